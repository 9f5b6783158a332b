//! Meaning of a joint's name: a part of the body and a side.
//!
//! A name loses its namespace (`mixamorig:`) and is split into words at separators, digits and capitals. Words that mark
//! helpers (IK targets, twist joints, end points) exclude the joint, as a helper has the part's name of the joint it serves.

use alloc::{string::String, vec::Vec};

use super::Side;

/// A part of the body, as names call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Hips,
    Neck,
    Head,
    /// `Clavicle` or `Collar`: always the collar bone.
    Collar,
    /// `Shoulder`: the collar bone above an upper arm, the upper arm above an elbow.
    Shoulder,
    UpperArm,
    /// `Arm` alone: the upper arm.
    Arm,
    Forearm,
    Hand,
    /// `Hip` with a side: a socket joint above a thigh, the thigh above a knee.
    Hip,
    Thigh,
    /// `Leg` alone: the shin below a thigh, the thigh above a knee.
    Leg,
    Shin,
    Foot,
    Toes,
}

/// Meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meaning {
    pub part: Part,
    pub side: Option<Side>,
    /// Whether the name marks a deforming bone (Rigify's `DEF-`), as opposed to a control bone of the same name.
    pub deform: bool,
}

/// Words that mark a helper, or a part without a role (fingers, hair, cloth).
const HELPERS: &[&str] = &[
    "ik",
    "fk",
    "ctrl",
    "control",
    "controller",
    "target",
    "goal",
    "pole",
    "effector",
    "twist",
    "roll",
    "helper",
    "end",
    "nub",
    "leaf",
    "tip",
    "top",
    "site",
    "socket",
    "slot",
    "mch",
    "org",
    "vis",
    "tweak",
    "share",
    "collider",
    "collision",
    "hitbox",
    "mesh",
    "geo",
    "attach",
    "weapon",
    "armature",
    "finger",
    "fingers",
    "thumb",
    "index",
    "middle",
    "ring",
    "pinky",
    "pinkie",
    "little",
    "metacarpal",
    "hair",
    "skirt",
    "cloth",
    "muscle",
];

/// The part that a single word names.
fn word(w: &str) -> Option<Part> {
    Some(match w {
        "hips" | "pelvis" => Part::Hips,
        "hip" => Part::Hip,
        "neck" => Part::Neck,
        "head" => Part::Head,
        "clavicle" | "collar" | "collarbone" | "scapula" => Part::Collar,
        "shoulder" => Part::Shoulder,
        "upperarm" | "uparm" | "humerus" | "shldr" => Part::UpperArm,
        "arm" => Part::Arm,
        "forearm" | "lowerarm" | "lowarm" | "elbow" | "radius" | "ulna" => Part::Forearm,
        "hand" | "wrist" => Part::Hand,
        "thigh" | "upleg" | "upperleg" | "femur" => Part::Thigh,
        "leg" => Part::Leg,
        "shin" | "calf" | "tibia" | "knee" | "lowerleg" | "lowleg" | "shank" => Part::Shin,
        "foot" | "ankle" => Part::Foot,
        "toe" | "toes" | "toebase" | "ball" => Part::Toes,
        _ => return None,
    })
}

/// Whether a word has a meaning of its own, so that no `l` or `r` is split off.
fn is_known(w: &str) -> bool {
    word(w).is_some() || matches!(w, "left" | "right" | "upper" | "lower")
}

/// Parses a name. `None` where it names no part, a helper, or both sides.
pub(super) fn read(name: &str) -> Option<Meaning> {
    let mut words = split(name);
    let mut side = None;
    let mut sides = 0;
    for w in &mut words {
        let here = match w.as_str() {
            "l" | "left" | "lft" => Some(Side::Left),
            "r" | "right" | "rgt" => Some(Side::Right),
            _ => None,
        };
        let here = here.or_else(|| glued_side(w));
        if here.is_some() && here != side {
            side = here;
            sides += 1;
        }
    }
    // `left_to_right_foot` names both sides.
    if sides > 1 || words.iter().any(|w| HELPERS.contains(&w.as_str())) {
        return None;
    }
    let has = |w: &str| words.iter().any(|x| x == w);
    let parts: Vec<Part> = words.iter().filter_map(|w| word(w)).collect();
    let holds = |p: Part| parts.contains(&p);
    let (upper, lower) = (has("upper") || has("up"), has("lower") || has("low") || has("fore"));
    // A name with several parts means the one furthest along the limb: `toe` in `foot_toe`, `foot` in `back_leg_foot`.
    let part = [Part::Toes, Part::Foot, Part::Shin, Part::Thigh].into_iter().find(|&p| holds(p));
    let part = part.or_else(|| {
        holds(Part::Leg).then_some(if upper {
            Part::Thigh
        } else if lower {
            Part::Shin
        } else {
            Part::Leg
        })
    });
    let part = part.or_else(|| [Part::Hand, Part::Forearm, Part::UpperArm].into_iter().find(|&p| holds(p)));
    let part = part.or_else(|| {
        holds(Part::Arm).then_some(if upper {
            Part::UpperArm
        } else if lower {
            Part::Forearm
        } else {
            Part::Arm
        })
    });
    let rest = [Part::Collar, Part::Shoulder, Part::Head, Part::Neck, Part::Hips, Part::Hip];
    let part = part.or_else(|| rest.into_iter().find(|&p| holds(p)))?;
    // The pelvis has a side only where it is split into two sockets. A hip without a side is the pelvis.
    let part = match (part, side) {
        (Part::Hips, Some(_)) => Part::Hip,
        (Part::Hip, None) => Part::Hips,
        _ => part,
    };
    Some(Meaning { part, side, deform: has("def") })
}

/// Whether a name says that a joint is a shoulder blade, a collar bone or a half of the pelvis: a part of the trunk at the top of a
/// limb, whatever else the name says.
pub(super) fn is_girdle(name: &str) -> bool {
    split(name)
        .iter()
        .any(|w| matches!(w.as_str(), "pelvis" | "scapula" | "clavicle" | "collar" | "collarbone"))
}

/// Splits off a side that has no separator: `lfemur`, `LEFTFOOT`, `footright`.
fn glued_side(w: &mut String) -> Option<Side> {
    if is_known(w) {
        return None;
    }
    let heads = [("left", Side::Left), ("right", Side::Right), ("l", Side::Left), ("r", Side::Right)];
    for (mark, side) in heads {
        if let Some(rest) = w.strip_prefix(mark)
            && (word(rest).is_some() || rest == "hipjoint")
        {
            *w = String::from(if rest == "hipjoint" { "hip" } else { rest });
            return Some(side);
        }
        if mark.len() > 1
            && let Some(rest) = w.strip_suffix(mark)
            && word(rest).is_some()
        {
            *w = String::from(rest);
            return Some(side);
        }
    }
    None
}

/// The name of the same part on the other side: that of a left joint with its word for left exchanged for right, and the other
/// way round, in the same case. `None` where the name has no side, or both.
pub(crate) fn other_side(name: &str) -> Option<String> {
    let start = name.rfind([':', '|']).map_or(0, |at| at + 1);
    let letters: Vec<char> = name[start..].chars().collect();
    let mut other: Vec<char> = Vec::with_capacity(letters.len() + 2);
    let (mut side, mut done) = (None, 0);
    for word in words(&letters) {
        let text: String = letters[word.clone()].iter().flat_map(|c| c.to_lowercase()).collect();
        let Some((mark, here)) = mark(&text) else { continue };
        // Lower case may have more letters than upper case.
        if side.is_some_and(|side| side != here) || text.chars().count() != word.len() {
            return None;
        }
        side = Some(here);
        let (from, to) = (word.start + mark.start, word.start + mark.end);
        other.extend(&letters[done..from]);
        let new = match (&text[mark], here) {
            ("l", _) => "r",
            ("r", _) => "l",
            ("lft", _) => "rgt",
            ("rgt", _) => "lft",
            (_, Side::Left) => "right",
            (_, Side::Right) => "left",
        };
        let [first, last] = [letters[from], letters[to - 1]].map(char::is_uppercase);
        other.extend(new.chars().enumerate().map(|(n, c)| match if n == 0 { first } else { last } {
            true => c.to_ascii_uppercase(),
            false => c,
        }));
        done = to;
    }
    side?;
    other.extend(&letters[done..]);
    Some(name[..start].chars().chain(other).collect())
}

/// The letters of a lower-case word that name its side, and that side.
fn mark(word: &str) -> Option<(core::ops::Range<usize>, Side)> {
    match word {
        "l" | "left" | "lft" => return Some((0..word.len(), Side::Left)),
        "r" | "right" | "rgt" => return Some((0..word.len(), Side::Right)),
        _ => {}
    }
    let mut rest = String::from(word);
    let side = glued_side(&mut rest)?;
    let long = if side == Side::Left { "left" } else { "right" };
    let mark = match () {
        () if word.ends_with(long) => word.len() - long.len()..word.len(),
        () if word.starts_with(long) => 0..long.len(),
        () => 0..1,
    };
    Some((mark, side))
}

/// Splits a name into lower-case words without digits.
fn split(name: &str) -> Vec<String> {
    let bare = name.rsplit([':', '|']).next().unwrap_or(name);
    let letters: Vec<char> = bare.chars().collect();
    words(&letters)
        .into_iter()
        .map(|word| letters[word].iter().flat_map(|c| c.to_lowercase()).collect())
        .collect()
}

/// The words of a name, as ranges of its letters.
fn words(letters: &[char]) -> Vec<core::ops::Range<usize>> {
    let mut words: Vec<core::ops::Range<usize>> = Vec::new();
    // Whether the letter before belongs to a word that goes on.
    let mut open = false;
    for (i, &c) in letters.iter().enumerate() {
        if !c.is_alphabetic() {
            open = false;
            continue;
        }
        let before = i.checked_sub(1).and_then(|k| letters.get(k)).copied().unwrap_or(' ');
        let after = letters.get(i + 1).copied().unwrap_or(' ');
        // A capital starts a word after a lower-case letter, and after capitals if a lower-case letter follows (`LHip`).
        if c.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && after.is_lowercase())) {
            open = false;
        }
        match words.last_mut().filter(|_| open) {
            Some(word) => word.end = i + 1,
            None => words.push(i..i + 1),
        }
        open = true;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_many_programs_mean_the_same() {
        use Part::*;
        let (l, r) = (Some(Side::Left), Some(Side::Right));
        for (name, part, side) in [
            ("mixamorig:LeftUpLeg", Thigh, l),
            ("mixamorig9:RightToeBase", Toes, r),
            ("thigh_l", Thigh, l),
            ("calf_r", Shin, r),
            ("ball_l", Toes, l),
            ("upper_leg.L", Thigh, l),
            ("DEF-shin.R.001", Shin, r),
            ("LHipJoint", Hip, l),
            ("lhipjoint", Hip, l),
            ("lfemur", Thigh, l),
            ("rtibia", Shin, r),
            ("ltoes", Toes, l),
            ("rclavicle", Collar, r),
            ("LeftHip", Hip, l),
            ("RightKnee", Shin, r),
            ("LeftAnkle", Foot, l),
            ("Bip01 L Thigh", Thigh, l),
            ("Bip01 R Toe0", Toes, r),
            ("Bip01 Pelvis", Hips, None),
            ("ValveBiped.Bip01_R_Calf", Shin, r),
            ("upperleg.l", Thigh, l),
            ("LeftLowerLeg", Shin, l),
            ("lThighBend", Thigh, l),
            ("rShldrBend", UpperArm, r),
            ("J_Bip_L_UpperLeg", Thigh, l),
            ("J_Bip_C_Hips", Hips, None),
            ("CC_Base_L_Calf", Shin, l),
            ("CC_Base_Hip", Hips, None),
            ("Left leg", Leg, l),
            ("LEFT_FOOT", Foot, l),
            ("RIGHTFOOT", Foot, r),
            ("LeftForeArm", Forearm, l),
            ("Bip01 R Forearm", Forearm, r),
            ("front_leg_lower_l", Shin, l),
            ("back_leg_ankle_r", Foot, r),
            ("LowerLeg_L", Shin, l),
            ("Knight|Hips", Hips, None),
        ] {
            let m = read(name).unwrap_or_else(|| panic!("{name} means nothing"));
            assert_eq!((m.part, m.side), (part, side), "{name}");
        }
    }

    #[test]
    fn names_of_both_sides_belong_together() {
        for (left, right) in [
            ("mixamorig:LeftUpLeg", "mixamorig:RightUpLeg"),
            ("thigh_l", "thigh_r"),
            ("DEF-shin.L.001", "DEF-shin.R.001"),
            ("LHipJoint", "RHipJoint"),
            ("lhipjoint", "rhipjoint"),
            ("lfemur", "rfemur"),
            ("Bip01 L Toe0", "Bip01 R Toe0"),
            ("J_Bip_L_UpperLeg", "J_Bip_R_UpperLeg"),
            ("lShldrBend", "rShldrBend"),
            ("LEFT_FOOT", "RIGHT_FOOT"),
            ("LEFTFOOT", "RIGHTFOOT"),
            ("footleft", "footright"),
            ("handIK.l", "handIK.r"),
            ("thigh_twist_01_l", "thigh_twist_01_r"),
            ("Left left eye", "Right right eye"),
            ("Handle|left arm", "Handle|right arm"),
            ("lft_arm", "rgt_arm"),
            ("żółw.l", "żółw.r"),
        ] {
            assert_eq!(other_side(left).as_deref(), Some(right), "{left}");
            assert_eq!(other_side(right).as_deref(), Some(left), "{right}");
        }
        for name in ["", "head", "spine_01", "left_to_right_foot", "leg", "lower", "ꙮ", "collar"] {
            assert_eq!(other_side(name), None, "{name}");
        }
    }

    #[test]
    fn helpers_and_other_words_mean_nothing() {
        for name in [
            "",
            "root",
            "kneeIK.l",
            "control-foot-roll.l",
            "IK-foot.l",
            "thigh_twist_01_l",
            "LeftToe_End",
            "ball_leaf_l",
            "Bip01 L Toe0Nub",
            "LeftHandThumb1",
            "MCH-thigh_fk.L",
            "ORG-foot.L",
            "HeadTop_End",
            "armor",
            "ribs",
            "Armature",
            "CC_Base_L_ThighTwist01",
            "left_to_right_foot",
            "left hand goal",
            "IndexFinger1_L",
            "ꙮ",
            "١٢",
        ] {
            assert_eq!(read(name), None, "{name}");
        }
    }
}
