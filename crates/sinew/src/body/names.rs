//! What a joint's name says: a side and a part of the body.
//!
//! A name is split into words at separators, at digits and where capitals begin, after any namespace (`mixamorig:`) is
//! dropped. Words that mark helpers (IK targets, twist joints, end points) take the joint out of the search, as such joints
//! carry the same part's name as the joint that they serve.

use alloc::{string::String, vec::Vec};

use super::Side;

/// A part of the body, as names call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Hips,
    Neck,
    Head,
    /// Clavicle or collar: always the collar bone.
    Collar,
    /// `Shoulder`: the collar bone where an arm follows, the upper arm where the elbow does.
    Shoulder,
    UpperArm,
    /// `Arm` alone: the upper arm.
    Arm,
    Forearm,
    Hand,
    /// `Hip` with a side: a socket joint where a thigh follows, the thigh where a knee does.
    Hip,
    Thigh,
    /// `Leg` alone: the shin below a thigh, the thigh above a knee.
    Leg,
    Shin,
    Foot,
    Toes,
}

/// What a name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meaning {
    pub part: Part,
    pub side: Option<Side>,
    /// Marked as a deforming bone (Rigify's `DEF-`), among control bones of the same names.
    pub deform: bool,
}

/// Words that mark a helper.
const HELPERS: &[&str] = &[
    "ik",
    "fk",
    "ctrl",
    "control",
    "controller",
    "target",
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

/// One word's part, if it has one of its own.
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

/// Words that mean something only beside others, and must not be taken for `l`/`r` and a part.
fn is_known(w: &str) -> bool {
    word(w).is_some() || matches!(w, "left" | "right" | "upper" | "lower")
}

/// Reads a name; none where it names no part, or a helper.
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
    // `left_to_right_foot` names neither.
    if sides > 1 || words.iter().any(|w| HELPERS.contains(&w.as_str())) {
        return None;
    }
    let has = |w: &str| words.iter().any(|x| x == w);
    let parts: Vec<Part> = words.iter().filter_map(|w| word(w)).collect();
    let holds = |p: Part| parts.contains(&p);
    let (upper, lower) = (has("upper") || has("up"), has("lower") || has("low") || has("fore"));
    // The part furthest along the limb is the one meant: `toe` in `foot_toe`, `foot` in `back_leg_foot`.
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
    // The pelvis has a side only where it is split in two, as the sockets are; a hip without one is the hips.
    let part = match (part, side) {
        (Part::Hips, Some(_)) => Part::Hip,
        (Part::Hip, None) => Part::Hips,
        _ => part,
    };
    Some(Meaning { part, side, deform: has("def") })
}

/// Takes a side off a word that holds it without a separator: `lfemur`, `LEFTFOOT`, `footright`.
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

/// Lower-case words of a name, digits left out.
fn split(name: &str) -> Vec<String> {
    let bare = name.rsplit([':', '|']).next().unwrap_or(name);
    let mut words: Vec<String> = Vec::new();
    let mut current = String::new();
    let letters: Vec<char> = bare.chars().collect();
    for (i, &c) in letters.iter().enumerate() {
        if !c.is_alphabetic() {
            flush(&mut words, &mut current);
            continue;
        }
        let before = i.checked_sub(1).and_then(|k| letters.get(k)).copied().unwrap_or(' ');
        let after = letters.get(i + 1).copied().unwrap_or(' ');
        // A capital begins a word after a small letter, and after capitals where a small letter follows (`LHip`).
        if c.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && after.is_lowercase())) {
            flush(&mut words, &mut current);
        }
        current.extend(c.to_lowercase());
    }
    flush(&mut words, &mut current);
    words
}

fn flush(words: &mut Vec<String>, current: &mut String) {
    if !current.is_empty() {
        words.push(core::mem::take(current));
    }
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
            "IndexFinger1_L",
            "ꙮ",
            "١٢",
        ] {
            assert_eq!(read(name), None, "{name}");
        }
    }
}
