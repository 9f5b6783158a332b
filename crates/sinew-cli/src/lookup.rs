//! Look-up of clips, joints and links by name, path or index, with near matches for names that do not exist.

use sinew::{
    JointId, Skeleton,
    mechanism::{LinkId, Mechanism},
    motion::Clip,
};
use sinew_files::{Model, shorten};

use crate::failure::Failure;

/// Maximum number of names that one message lists.
const MAX_LISTED: usize = 8;
/// Jaro-Winkler similarity, 0 to 1, below which a name is not suggested: `Walk` and `Walking_A` are at 0.9, `Walk` and
/// `Wave` at 0.7.
const MIN_SIMILARITY: f64 = 0.75;

/// The name with control characters replaced, which could drive the user's terminal.
pub fn shown(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Joins items as `a`, `a or b`, `a, b or c`. Lists of more than [`MAX_LISTED`] are cut and end with the number of the rest.
pub fn or_list<S: AsRef<str>>(items: &[S]) -> String {
    let mut text = String::new();
    for (i, item) in items.iter().take(MAX_LISTED).enumerate() {
        text += match i {
            0 => "",
            _ if i + 1 == items.len() => " or ",
            _ => ", ",
        };
        text += item.as_ref();
    }
    if items.len() > MAX_LISTED {
        text += &format!(" or one of {} more", items.len() - MAX_LISTED);
    }
    text
}

/// The name as messages quote it: shortened, between backticks.
pub fn quoted(name: &str) -> String {
    format!("`{}`", shorten(&shown(name)))
}

/// The end of a message about a name that does not exist: similar names, or else all names.
pub fn suggestion<'a>(wanted: &str, names: impl Iterator<Item = &'a str>, kind: &str) -> String {
    let lower = wanted.to_lowercase();
    let mut all: Vec<&str> = names.filter(|n| !n.is_empty()).collect();
    // A file of 100,000 joints has many equal names; each is compared once.
    all.sort_unstable();
    all.dedup();
    // A comparison takes time in proportion to the product of both lengths; nobody types longer names.
    const MAX_LENGTH: usize = 256;
    let is_typed = |name: &str| wanted.len() <= MAX_LENGTH && name.len() <= MAX_LENGTH;
    let similarity = |name: &str| {
        let name = name.to_lowercase();
        let bare = name.rsplit([':', '|', '/']).next().unwrap_or(&name);
        // An exact part of a name is a good match, whatever surrounds it.
        let inside = if lower.len() >= 3 && name.contains(&lower) { 0.9 } else { 0.0 };
        strsim::jaro_winkler(&lower, &name).max(strsim::jaro_winkler(&lower, bare)).max(inside)
    };
    let mut near: Vec<(f64, &str)> = all
        .iter()
        .filter(|n| is_typed(n))
        .map(|n| (similarity(n), *n))
        .filter(|(s, _)| *s >= MIN_SIMILARITY)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    near.truncate(5);
    // Names that are clearly less similar than the best are dropped.
    if let Some(&(best, _)) = near.first() {
        near.retain(|(s, _)| *s >= best - 0.08);
        let names: Vec<_> = near.iter().map(|(_, n)| quoted(n)).collect();
        return format!("did you mean {}?", or_list(&names));
    }
    match all.as_slice() {
        [] => format!("no {kind} has a name; use #0 for the first"),
        _ => format!("there is {}", or_list(&all.iter().map(|n| quoted(n)).collect::<Vec<_>>())),
    }
}

/// The index in `#12`; `None` for any other text.
fn index(text: &str) -> Option<usize> {
    text.strip_prefix('#')?.parse().ok()
}

/// The clip of this name; without a name, the model's only clip, or the only one with `walk` in its name. `doing` says what
/// it is for.
pub fn clip_or_only<'a>(model: &'a Model, wanted: Option<&str>, doing: &str) -> Result<&'a Clip, Failure> {
    if let Some(wanted) = wanted {
        return clip(model, wanted);
    }
    if let [only] = model.clips.as_slice() {
        return Ok(only);
    }
    if model.clips.is_empty() {
        let why = model.problems.first().map(|p| format!(": {p}")).unwrap_or_default();
        return Err(Failure::Work(format!("{} has no clip to {doing}{why}", model.name)));
    }
    let walks: Vec<_> = model.clips.iter().filter(|c| c.name().to_lowercase().contains("walk")).collect();
    if let [walk] = walks.as_slice() {
        return Ok(walk);
    }
    let names: Vec<_> = model.clips.iter().map(|c| shorten(&shown(c.name()))).collect();
    Err(Failure::Work(format!(
        "{} has {} clips; --clip NAME selects one: {}",
        model.name,
        names.len(),
        or_list(&names)
    )))
}

/// Finds a clip by name or `#index`. Names come first.
pub fn clip<'a>(model: &'a Model, wanted: &str) -> Result<&'a Clip, Failure> {
    let found: Vec<(usize, &Clip)> =
        model.clips.iter().enumerate().filter(|(_, c)| c.name() == wanted).collect();
    match found.as_slice() {
        [(_, clip)] => return Ok(clip),
        [] => {}
        many => {
            let list: Vec<_> = many.iter().map(|(i, _)| format!("#{i}")).collect();
            let what = format!("{} clips are named {}: use {}", many.len(), quoted(wanted), or_list(&list));
            return Err(Failure::Work(what));
        }
    }
    if let Some(problem) = model.problems.iter().find(|p| p.clip == wanted) {
        return Err(Failure::Work(format!("{}: {}", model.name, problem)));
    }
    if let Some(i) = index(wanted) {
        let count = model.clips.len();
        let none = || Failure::Work(format!("no clip #{i}: {} has {count}, counted from #0", model.name));
        return model.clips.get(i).ok_or_else(none);
    }
    let message = match model.clips.is_empty() {
        true => format!("no clip {}: {} has no clips", quoted(wanted), model.name),
        false => {
            let names = model.clips.iter().map(Clip::name);
            format!("no clip {}; {}", quoted(wanted), suggestion(wanted, names, "clip"))
        }
    };
    Err(Failure::Work(message))
}

/// Finds a joint by name, path (`hips/thigh.L`, each a child of the one before; see [`Skeleton::joint_by_path`]) or
/// `#index`.
pub fn joint(skeleton: &Skeleton, wanted: &str) -> Result<JointId, Failure> {
    // Names come before indices, as a name may itself begin with a number sign.
    let found = skeleton.joints_by_path(wanted).filter(|_| !wanted.is_empty());
    match found.collect::<Vec<_>>().as_slice() {
        [] => {}
        &[joint] => return Ok(joint),
        many => {
            let list: Vec<_> = many.iter().map(|&j| index_and_path(skeleton, j)).collect();
            let what = format!("{} joints are named {}: use {}", many.len(), quoted(wanted), or_list(&list));
            return Err(Failure::Work(what));
        }
    }
    if let Some(i) = index(wanted) {
        let none = || Failure::Work(format!("no joint #{i}: there are {}, counted from #0", skeleton.len()));
        return skeleton.joint_at(i).ok_or_else(none);
    }
    let last = wanted.rsplit('/').next().unwrap_or(wanted);
    let names = skeleton.joints().map(|j| skeleton.name(j));
    Err(Failure::Work(format!("no joint {}; {}", quoted(wanted), suggestion(last, names, "joint"))))
}

/// Index and path of a joint, which tell it from others of its name. The path has four names at most.
fn index_and_path(skeleton: &Skeleton, joint: JointId) -> String {
    let mut names: Vec<String> = Vec::new();
    for j in core::iter::once(joint).chain(skeleton.ancestors(joint)).take(4) {
        names.push(shorten(&shown(skeleton.name(j))));
    }
    names.reverse();
    format!("{joint} ({})", names.join("/"))
}

/// A text by which [`joint`] finds this joint: its name if no other joint has it, else `#index`.
pub fn label(skeleton: &Skeleton, joint: JointId) -> String {
    let name = skeleton.name(joint);
    let same = skeleton.joints().filter(|&j| skeleton.name(j) == name).count();
    if name.is_empty() || same > 1 { joint.to_string() } else { name.into() }
}

/// Finds a link by name.
pub fn link(mechanism: &Mechanism, name: &str) -> Result<LinkId, String> {
    mechanism.find_link(name).ok_or_else(|| {
        let names = mechanism.links().map(|l| mechanism.link_name(l));
        format!("no link {}; {}", quoted(name), suggestion(name, names, "link"))
    })
}

/// First and last link of a chain: those that the user names, or the root link and the only moving link without children.
/// The inner error says why there is no last link by default.
pub fn ends(
    mechanism: &Mechanism,
    chain: Option<&(String, String)>,
) -> Result<(LinkId, Result<LinkId, String>), Failure> {
    if let Some((root, tip)) = chain {
        let root = link(mechanism, root).map_err(Failure::Work)?;
        let tip = link(mechanism, tip).map_err(Failure::Work)?;
        if mechanism.dofs_between(root, tip).is_empty() {
            let name = |l| quoted(mechanism.link_name(l));
            let what = format!("there is no moving joint between {} and {}", name(root), name(tip));
            return Err(Failure::Work(what));
        }
        return Ok((root, Ok(tip)));
    }
    let mut carries = vec![false; mechanism.links().len()];
    for parent in mechanism.links().filter_map(|l| mechanism.link_parent(l)) {
        carries[parent.index()] = true;
    }
    let last: Vec<LinkId> = mechanism.links().filter(|l| !carries[l.index()]).collect();
    let moved: Vec<LinkId> =
        last.into_iter().filter(|&l| !mechanism.dofs_between(mechanism.root(), l).is_empty()).collect();
    let tip = match moved.as_slice() {
        [] => Err("the arm has no moving joints".into()),
        &[tip] => Ok(tip),
        many => {
            let names: Vec<_> = many.iter().map(|&l| quoted(mechanism.link_name(l))).collect();
            Err(format!("the arm has several ends ({}): --chain ROOT..TIP selects one", or_list(&names)))
        }
    };
    Ok((mechanism.root(), tip))
}

#[cfg(test)]
mod tests {
    use sinew::JointTransform;

    use super::*;

    fn skeleton() -> Skeleton {
        let mut b = Skeleton::builder();
        let hips = b.add("hips", None, JointTransform::IDENTITY);
        for side in ["L", "R"] {
            let thigh = b.add(format!("thigh.{side}"), Some(hips), JointTransform::IDENTITY);
            let foot = b.add("foot", Some(thigh), JointTransform::IDENTITY);
            b.add(format!("a/b.{side}"), Some(foot), JointTransform::IDENTITY);
        }
        b.add("", Some(hips), JointTransform::IDENTITY);
        b.build().unwrap().0
    }

    #[test]
    fn joints_go_by_name_path_and_index() {
        let s = skeleton();
        let name = |text: &str| joint(&s, text).map(|j| j.index()).map_err(|e| e.to_string());
        assert_eq!(name("thigh.R"), Ok(4));
        assert_eq!(name("hips/thigh.L"), Ok(1));
        assert_eq!(name("thigh.R/foot"), Ok(5));
        assert_eq!(name("a/b.L"), Ok(3));
        assert_eq!(name("thigh.R/foot/a/b.R"), Ok(6));
        assert_eq!(name("/hips"), Ok(0));
        assert_eq!(name("#7"), Ok(7));
        assert_eq!(
            name("foot"),
            Err("2 joints are named `foot`: use #2 (hips/thigh.L/foot) or #5 (hips/thigh.R/foot)".into())
        );
        assert_eq!(name("#8"), Err("no joint #8: there are 8, counted from #0".into()));
        assert_eq!(name("thig.L"), Err("no joint `thig.L`; did you mean `thigh.L` or `thigh.R`?".into()));
        assert_eq!(
            name("hips/thihg.R"),
            Err("no joint `hips/thihg.R`; did you mean `thigh.R` or `thigh.L`?".into())
        );
        assert!(name("").unwrap_err().starts_with("no joint ``; there is `a/b.L`"));
    }

    #[test]
    fn lists_are_cut_and_terminals_left_alone() {
        assert_eq!(or_list(&["a"]), "a");
        assert_eq!(or_list(&["a", "b", "c"]), "a, b or c");
        let many: Vec<_> = (0..20).map(|i| i.to_string()).collect();
        assert_eq!(or_list(&many), "0, 1, 2, 3, 4, 5, 6, 7 or one of 12 more");
        assert_eq!(shown("a\u{1b}[2Jb\n"), "a\u{fffd}[2Jb\u{fffd}");
    }
}
