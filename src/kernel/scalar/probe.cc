namespace adjudge::kernel::scalar {

bool probe();
bool probe() { return true; }  // runs anywhere

}  // namespace adjudge::kernel::scalar
