#include "kernel/avx512/lanes.h"
#include "kernel/simd/delta.h"
#include "kernel/simd/panel.h"
#include "kernel/simd/rows.h"

namespace adjudge::kernel::avx512 {

void improve(Table& table);
void improve(Table& table) {
  improve_panels<Lanes>(table);
  improve_rows<Lanes>(table);
  table.delta_rule = delta_rule<Lanes>;
}

}  // namespace adjudge::kernel::avx512
