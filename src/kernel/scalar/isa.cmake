# Plain C++ for any processor: the reference that fills every entry of the table.
set(isa_order 0)
set(isa_flags "")
set(isa_processors ".*")
