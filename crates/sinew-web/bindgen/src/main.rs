//! `sinew-bindgen INPUT.wasm NAME FOLDER` writes NAME.wasm, NAME.glue.js and NAME.glue.d.ts into the folder.
//!
//! The glue is a function, and each call of it makes an instance of its own: wasm-bindgen's modules keep one instance for good,
//! even after it has stopped. All that the glue calls goes through the function's argument, which wraps the exports.

use std::{env, fs, path::Path};

use anyhow::{Context, Result, bail};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<()> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let [input, name, folder] = arguments.as_slice() else {
        bail!("expected INPUT.wasm NAME FOLDER");
    };
    let mut output = Bindgen::new()
        .input_path(input)
        .out_name(name)
        .no_modules(true)?
        .typescript(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate_output()
        .with_context(|| format!("cannot read {input}"))?;
    let glue = replace_once(output.js(), "wasm = instance.exports;", "wasm = guard(instance.exports);")?;
    let types = output.ts().context("no types were written")?;
    let write = |ending: &str, bytes: &[u8]| {
        let file = Path::new(folder).join(format!("{name}{ending}"));
        fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))
    };
    write(
        ".glue.js",
        format!("export function glue(guard) {{\n{glue}\nreturn wasm_bindgen;\n}}\n").as_bytes(),
    )?;
    let exports = "export { wasm_bindgen as Glue };\n\
                   export function glue(guard: <T extends object>(exports: T) => T): typeof wasm_bindgen;\n";
    write(".glue.d.ts", format!("{types}\n{exports}").as_bytes())?;
    write(".wasm", &output.wasm_mut().emit_wasm())
}

/// Fails where the text is not there once, as in the glue of another version.
fn replace_once(text: &str, from: &str, to: &str) -> Result<String> {
    let count = text.matches(from).count();
    if count != 1 {
        bail!("the glue has `{from}` {count} times, not once");
    }
    Ok(text.replace(from, to))
}
