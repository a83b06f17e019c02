//! Videos to a data set: in a build with FFmpeg.

mod options;
mod pack;
mod parts;

use pyo3::prelude::*;

/// Adds the functions to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(pack::pack, module)?)?;
    module.add_function(wrap_pyfunction!(pack::serve, module)?)?;
    module.add_function(wrap_pyfunction!(pack::estimate, module)?)?;
    module.add_function(wrap_pyfunction!(pack::recipe, module)?)?;
    module.add_function(wrap_pyfunction!(parts::write_plan, module)?)?;
    module.add_function(wrap_pyfunction!(parts::pack_part, module)?)?;
    module.add_function(wrap_pyfunction!(parts::plan_status, module)?)?;
    module.add_function(wrap_pyfunction!(parts::publish, module)?)
}
