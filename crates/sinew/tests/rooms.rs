//! Judges the structure of the engine: its top-level modules import each other in one direction, and it stays small.

use std::{fs, path::Path};

/// Modules in order; each may import those before it.
const ROOMS: [&str; 11] =
    ["math", "math64", "joint", "motion", "solve", "planar", "mechanism", "body", "ground", "rig", "draw"];

/// Returns the code of a module without comments and unit tests.
fn code(at: &Path) -> String {
    if at.is_dir() {
        let entries = fs::read_dir(at).unwrap().map(|entry| code(&entry.unwrap().path()));
        return entries.collect();
    }
    let text = fs::read_to_string(at).unwrap();
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    text.lines().flat_map(|line| [line.split("//").next().unwrap_or_default(), "\n"]).collect()
}

/// Returns the first path segments imported or named from the crate's root: `a` and `b` of `crate::{a::x, b}`.
fn named(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in code.split("crate::").skip(1) {
        let Some(list) = part.strip_prefix('{') else {
            found.push(part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
            continue;
        };
        let (mut depth, mut word) = (0, String::new());
        for c in list.chars() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => found.push(std::mem::take(&mut word)),
                c if depth == 0 && !c.is_whitespace() => word.push(c),
                _ => {}
            }
        }
        found.push(word);
    }
    let first = |path: &String| path.split("::").next().unwrap_or_default().to_string();
    found.iter().map(first).collect()
}

#[test]
fn rooms_import_in_one_direction() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let root = fs::read_to_string(src.join("lib.rs")).unwrap();
    let declared: Vec<&str> =
        root.lines().filter_map(|l| l.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    let (mut known, mut given) = (ROOMS.to_vec(), declared);
    known.sort_unstable();
    given.sort_unstable();
    assert_eq!(known, given, "rooms that this test does not know");
    let mut imports = 0;
    for (n, room) in ROOMS.iter().enumerate() {
        let files = [src.join(room), src.join(format!("{room}.rs"))];
        let code: String = files.iter().filter(|at| at.exists()).map(|at| code(at)).collect();
        assert!(!code.is_empty(), "{room} has no code");
        for other in named(&code).iter().filter(|name| ROOMS.contains(&name.as_str())) {
            let at = ROOMS.iter().position(|r| r == other).unwrap();
            assert!(at <= n, "{room} imports {other}, which comes after it");
            imports += usize::from(at < n);
        }
    }
    assert!(imports > 50, "{imports} imports were found");
}

/// Lines of code that the engine may have without planting (`ground/plant`): no comments, no blank lines, no unit tests. It had
/// 21,068 at commit 94883dc; the shared solvers' options, states and bounds on turns, placements, whole poses and stored data
/// have come since, the tree of joints that a look-at turns apart from its pose, cursors of clips, the solvers' capabilities,
/// centres of swings, the paths of limbs in a full body's step, a limb's path for the common case, coordinates of joints
/// between the steps of a chain, resistance in joint space, one outer loop for the steps of four models, ease and
/// stiffness as weights in steps of chains and bodies, preferred values in a chain's null space, limbs within limits (1,060),
/// aims and look-ats within limits (220), errors about feet beside their legs (50), spheres cast by rays (40), loops and root
/// motion of clips (230), moving platforms (60), rigs (1,860: handles of all solvers, their states, feet and errors), spaces
/// of their goals (310), goals that are read from poses (220), matches of goals and poses whose residual turns fade (390),
/// roles by name (60), keys of goals and joints with edits, changes of space, recording and mirrors (1,530), the removal of
/// keys from clips (270), clips through rigs (170), humanoids (150), planting in rigs (270), drags on them (560), clips to keys of goals
/// (280) and their removal (210), turns beside limbs (100), batches, themes, areas, needles, goals, curves, angles and
/// labels to draw (410), forward and backward reaching on trees (510), people's arms in rigs (140), bind poses of skins, which
/// the readers of files had before, with looks of bodies (310), walks of creatures (2,250): legs by shape,
/// gaits, footholds and swings, trunks and tails, moving platforms, clips that take over, chains that fold (170), and tails that trail (120). A change that needs more lines wins them back
/// elsewhere, or says here what they are for.
const MAX_LINES: usize = 36_000;

fn lines(at: &Path) -> usize {
    if at.is_file() {
        return code(at).lines().filter(|line| !line.trim().is_empty()).count();
    }
    let entries = fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| !path.ends_with("ground/plant")).map(|path| lines(&path)).sum()
}

#[test]
fn the_engine_stays_small() {
    let count = lines(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!((10_000..=MAX_LINES).contains(&count), "{count} lines of code, {MAX_LINES} are allowed");
}
