// Whether somebody is watching.
#pragma once

namespace adjudge {

bool stderr_is_terminal();

}  // namespace adjudge
