//! Writes the JSON Schema of scenario files to `docs/schema`, where a test keeps it true.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("weft-scenario.schema.json"), weft_scenario::schema())
}
