//! URDF files: what they mean, and what is told of broken ones.

mod real;

use std::path::Path;

use glam::DVec3;
use real::data;
use sinew::mechanism::{LinkFrames, Mechanism};
use sinew_files::urdf;

fn parse(body: &str) -> Result<Mechanism, String> {
    let text = format!("<robot name=\"test\">{body}</robot>");
    urdf::parse(&text, Path::new("arm.urdf")).map_err(|e| e.to_string())
}

fn links(names: &[&str]) -> String {
    names.iter().map(|n| format!("<link name=\"{n}\"/>")).collect()
}

fn joint(name: &str, kind: &str, parent: &str, child: &str, more: &str) -> String {
    format!(
        "<joint name=\"{name}\" type=\"{kind}\"><parent link=\"{parent}\"/><child link=\"{child}\"/>{more}</joint>"
    )
}

const LIMIT: &str = "<limit lower=\"-2\" upper=\"2\" effort=\"1\" velocity=\"3\"/>";

fn close(a: DVec3, b: DVec3) -> bool {
    (a - b).length() < 1e-12
}

#[test]
fn a_small_arm_means_what_the_format_says() {
    // Roll, pitch and yaw about fixed axes; axes in the joint's own frame; fixed joints folded in; meshes not looked at.
    let text = links(&["base", "turret", "arm"])
        + "<link name=\"tool\"><visual><geometry><mesh filename=\"package://nowhere/x.dae\"/></geometry></visual></link>"
        + "<transmission name=\"t\"><type>x</type></transmission>"
        + &joint(
            "pan",
            "revolute",
            "base",
            "turret",
            &format!("<origin xyz=\"0 0 1\" rpy=\"0 0 1.5707963267948966\"/><axis xyz=\"0 0 2\"/>{LIMIT}"),
        )
        + &joint(
            "reach",
            "prismatic",
            "turret",
            "arm",
            "<axis xyz=\"1 0 0\"/><limit lower=\"0\" upper=\"0.5\" effort=\"1\" velocity=\"0.1\"/>",
        )
        + &joint("mount", "fixed", "arm", "tool", "<origin xyz=\"0.1 0 0\" rpy=\"0.3 -0.2 0.7\"/>");
    let arm = parse(&text).unwrap();
    let names: Vec<_> = arm
        .dofs()
        .iter()
        .map(|d| (d.name.as_str(), d.slides(), d.dof.range.min, d.dof.range.max, d.dof.speed))
        .collect();
    assert_eq!(names, [("pan", false, -2.0, 2.0, 3.0), ("reach", true, 0.0, 0.5, 0.1)]);
    let mut placement = LinkFrames::new(&arm);
    arm.forward_kinematics(&[0.5, 0.25], &mut placement).unwrap();
    let tool = arm.link_transform(&placement, arm.find_link("tool").unwrap());
    // The yaw of the origin and the pan add up.
    let yaw = core::f64::consts::FRAC_PI_2 + 0.5;
    assert!(close(tool.translation, DVec3::new(0.35 * yaw.cos(), 0.35 * yaw.sin(), 1.0)));
    // Rz(0.7) Ry(-0.2) Rx(0.3), written out for the image of x and of z.
    let (sr, cr, sp, cp, sy, cy) =
        (0.3f64.sin(), 0.3f64.cos(), (-0.2f64).sin(), (-0.2f64).cos(), 0.7f64.sin(), 0.7f64.cos());
    let x = DVec3::new(cy * cp, sy * cp, -sp);
    let z = DVec3::new(cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr);
    let turned =
        |v: DVec3| DVec3::new(v.x * yaw.cos() - v.y * yaw.sin(), v.x * yaw.sin() + v.y * yaw.cos(), v.z);
    assert!(close(tool.matrix3.x_axis, turned(x)) && close(tool.matrix3.z_axis, turned(z)));
}

#[test]
fn mimics_follow_and_narrow_what_they_follow() {
    let text = links(&["palm", "a", "b", "c"])
        + &joint(
            "left",
            "prismatic",
            "palm",
            "a",
            "<axis xyz=\"0 1 0\"/><limit lower=\"0\" upper=\"0.5\" effort=\"1\" velocity=\"1\"/>",
        )
        + &joint(
            "right",
            "prismatic",
            "palm",
            "b",
            "<axis xyz=\"0 1 0\"/><limit lower=\"-0.6\" upper=\"0\" effort=\"1\" velocity=\"1\"/><mimic joint=\"left\" multiplier=\"-2\" offset=\"0.1\"/>",
        )
        + &joint(
            "wrong",
            "revolute",
            "palm",
            "c",
            "<axis xyz=\"0 0 1\"/><limit lower=\"3\" upper=\"4\" effort=\"1\" velocity=\"1\"/><mimic joint=\"left\"/>",
        );
    let hand = parse(&text).unwrap();
    let [left] = hand.dofs() else { panic!("{:?}", hand.dofs()) };
    // -0.6 <= -2 left + 0.1 <= 0.
    assert!((left.dof.range.min - 0.05).abs() < 1e-15 && (left.dof.range.max - 0.35).abs() < 1e-15);
    assert_eq!(left.contradicted_by, ["wrong"]);
    let mut placement = LinkFrames::new(&hand);
    hand.forward_kinematics(&[0.2], &mut placement).unwrap();
    let b = hand.link_transform(&placement, hand.find_link("b").unwrap());
    assert!(close(b.translation, DVec3::new(0.0, -0.3, 0.0)));
}

#[test]
fn planar_and_floating_joints_are_several() {
    let text = links(&["world", "body", "table"])
        + &joint("float", "floating", "world", "body", "")
        + &joint("plane", "planar", "body", "table", "<axis xyz=\"0 0 1\"/>");
    let m = parse(&text).unwrap();
    let names: Vec<_> = m.dofs().iter().map(|d| d.name.as_str()).collect();
    let all = [
        "float.slide x",
        "float.slide y",
        "float.slide z",
        "float.z",
        "float.y",
        "float.x",
        "plane.slide x",
        "plane.slide y",
        "plane.turn",
    ];
    assert_eq!(names, all);
    let mut placement = LinkFrames::new(&m);
    m.forward_kinematics(&[1.0, 2.0, 3.0, 0.4, 0.0, 0.0, 0.5, 0.0, 0.0], &mut placement).unwrap();
    let table = m.link_transform(&placement, m.find_link("table").unwrap());
    assert!(close(table.translation, DVec3::new(1.0 + 0.5 * 0.4f64.cos(), 2.0 + 0.5 * 0.4f64.sin(), 3.0)));
}

#[test]
fn broken_files_are_told_by_element_and_value() {
    let ab = links(&["a", "b"]);
    let turn = |more: &str| {
        ab.clone() + &joint("j", "revolute", "a", "b", &format!("<axis xyz=\"0 0 1\"/>{LIMIT}{more}"))
    };
    let cases: Vec<(String, &str)> = vec![
        (
            turn("<origin xyz=\"0 nan 0\"/>"),
            "arm.urdf: robot: joint `j`: its origin is not finite: [0, NaN, 0]",
        ),
        (turn("<origin rpy=\"0 0 inf\"/>"), "arm.urdf: joint `j`: its origin's rpy is not finite: inf"),
        (
            ab.clone() + &joint("j", "continuous", "a", "b", "<axis xyz=\"0 0 0\"/>"),
            "arm.urdf: robot: joint `j`: the hinge axis has no direction: [0, 0, 0]",
        ),
        (
            ab.clone()
                + &joint(
                    "j",
                    "revolute",
                    "a",
                    "b",
                    "<limit lower=\"2\" upper=\"1\" effort=\"1\" velocity=\"1\"/>",
                ),
            "arm.urdf: robot: joint `j`: the hinge's angle goes from 2 to 1: the lower limit must be at most the upper, with a finite value between",
        ),
        (
            ab.clone()
                + &joint(
                    "j",
                    "revolute",
                    "a",
                    "b",
                    "<limit lower=\"nan\" upper=\"1\" effort=\"1\" velocity=\"1\"/>",
                ),
            "arm.urdf: robot: joint `j`: the hinge's angle goes from NaN to 1: the lower limit must be",
        ),
        (
            ab.clone() + &joint("j", "revolute", "a", "b", ""),
            "arm.urdf: joint `j`: a revolute joint needs a <limit>",
        ),
        (
            ab.clone() + &joint("j", "fixed", "a", "c", ""),
            "arm.urdf: robot: joint `j`: its child link `c` does not exist",
        ),
        (
            ab.clone() + &joint("j", "fixed", "x", "b", ""),
            "arm.urdf: robot: joint `j`: its parent link `x` does not exist",
        ),
        (
            ab.clone(),
            "arm.urdf: robot: links `a` and `b` have no parent joint: there must be exactly one root",
        ),
        (
            ab.clone() + &joint("j", "fixed", "a", "b", "") + &joint("k", "fixed", "b", "a", ""),
            "arm.urdf: robot: link `a` is its own ancestor: the joints form a loop",
        ),
        (
            links(&["a", "b", "c"]) + &joint("j", "fixed", "a", "c", "") + &joint("k", "fixed", "b", "c", ""),
            "arm.urdf: robot: link `c` is the child of two joints, `j` and `k`: loops are not supported",
        ),
        (turn("<mimic joint=\"j\"/>"), "arm.urdf: robot: joint `j` mimics `j`, which is itself"),
        (turn("<mimic joint=\"z\"/>"), "arm.urdf: robot: joint `j` mimics `z`, which does not exist"),
        (
            turn("<mimic joint=\"j\" multiplier=\"nan\"/>"),
            "arm.urdf: robot: joint `j`: its mimic's multiplier is not finite: NaN",
        ),
        (
            links(&["a", "b", "c", "d"])
                + &joint("j", "continuous", "a", "b", "")
                + &joint("k", "continuous", "b", "c", "<mimic joint=\"j\"/>")
                + &joint("l", "continuous", "c", "d", "<mimic joint=\"k\"/>"),
            "arm.urdf: robot: joint `l` mimics `k`, which itself mimics another",
        ),
        (links(&["a", "a"]), "arm.urdf: robot: two links are called `a`"),
        (
            // The parser would take the three numbers that are left.
            turn("<origin xyz=\"0 x 0 1\"/>"),
            "arm.urdf: joint `j`: its origin's xyz must be three numbers, not `0 x 0 1`",
        ),
        (
            turn("<!-- <origin xyz=\"x\"/> --><origin\n rpy = '0 1,5 0'></origin>"),
            "arm.urdf: joint `j`: its origin's rpy must be three numbers, not `0 1,5 0`",
        ),
        (
            turn("").replace("upper=\"2\"", "upper=\"two\""),
            "arm.urdf: joint `j`: its limit's upper must be a number, not `two`",
        ),
        (
            turn("<mimic joint=\"k\" offset=\"\"/>"),
            "arm.urdf: joint `j`: its mimic's offset must be a number, not ``",
        ),
        (turn("<mimic/>"), "arm.urdf: joint `j`: its mimic names no joint"),
        (turn("").replace("<child link=\"b\"/>", ""), "arm.urdf: joint `j`: it has no child link"),
        (
            turn("").replace("<parent link=\"a\"/>", "<parent/>"),
            "arm.urdf: joint `j`: its parent names no link",
        ),
        (ab.clone() + "<joint name=\"j\" type=\"fixed\"/>", "arm.urdf: joint `j`: it has no parent link"),
        (
            turn("").replace("revolute", "hinge"),
            "arm.urdf: joint `j`: its type `hinge` must be one of revolute, continuous, prismatic, fixed, floating, planar, spherical",
        ),
        (turn("").replace(" type=\"revolute\"", ""), "arm.urdf: joint `j`: it has no type"),
        (format!("\n\n<link/>{ab}"), "arm.urdf: line 3: a link has no name"),
        (
            turn("<origin xyz=\"0 0 1e60\"/>"),
            "arm.urdf: robot: joint `j`: its origin is too large: [0, 0, 10000",
        ),
        (String::new(), "arm.urdf: robot: there is no link"),
        (
            turn("<origin rpy=\"0 0 0\" xyz=\"1 2\"/>"),
            "arm.urdf: joint `j`: its origin's xyz must be three numbers, not `1 2`",
        ),
        (
            ab.clone() + &joint("j", "spherical", "a", "b", ""),
            "arm.urdf: joint `j`: spherical joints are not supported",
        ),
    ];
    for (text, expected) in cases {
        let error = parse(&text).unwrap_err();
        assert!(error.starts_with(expected) && !error.contains('\n'), "{error}\nnot\n{expected}");
    }
    let deep = format!("{}{}", "<x>".repeat(100_000), "</x>".repeat(100_000));
    assert!(parse(&deep).unwrap_err().contains("nested more than 64 deep"));
    for text in ["", "<robot", "<robot name=\"x\"><link/></robot>", "<html/>", "\u{0}"] {
        assert!(urdf::parse(text, Path::new("arm.urdf")).is_err(), "{text}");
    }
}

#[test]
fn damaged_text_never_panics() {
    let text = format!(
        "<robot name=\"r\">{}{}</robot>",
        links(&["a", "b", "c"]),
        joint("j", "revolute", "a", "b", LIMIT) + &joint("k", "prismatic", "b", "c", LIMIT)
    );
    // Every byte cut off, and every byte replaced by a few that mean something to XML or to numbers.
    for i in 0..text.len() {
        let _ = urdf::parse(&text[..i], Path::new("x.urdf"));
        for c in ['<', '>', '"', '/', '&', '9', '-', 'e', ' '] {
            let damaged = format!("{}{c}{}", &text[..i], &text[i + 1..]);
            let _ = urdf::parse(&damaged, Path::new("x.urdf"));
        }
    }
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn real_arms_are_read() {
    for (file, root, tip, dofs) in [
        ("panda", "panda_link0", "panda_hand", 7),
        ("ur5", "base_link", "tool0", 6),
        ("iiwa14", "base_link", "tool0", 7),
        ("pr2", "torso_lift_link", "r_wrist_roll_link", 7),
        ("pr2", "base_link", "r_wrist_roll_link", 8),
        ("scara4", "base", "tip", 4),
        ("stanford6", "base", "tip", 6),
        ("telescope8", "base", "tip", 8),
        ("snake24", "base", "tip", 24),
    ] {
        let m = urdf::read(&data(&format!("urdf/{file}.urdf"))).unwrap();
        let (root, tip) = (m.find_link(root).unwrap(), m.find_link(tip).unwrap());
        assert_eq!(m.dofs_between(root, tip).len(), dofs, "{file}");
    }
    for file in ["anymal_c", "simple_humanoid"] {
        let m = urdf::read(&data(&format!("urdf/{file}.urdf"))).unwrap();
        assert!(m.dofs().len() >= 12, "{file}");
    }
    // UR5 at zero stretches along x: published D-H lengths (0.425 + 0.39225, 0.10915 + 0.0823 aside, 0.09465 down).
    let ur5 = urdf::read(&data("urdf/ur5.urdf")).unwrap();
    let mut placement = LinkFrames::new(&ur5);
    ur5.forward_kinematics(&[0.0; 6], &mut placement).unwrap();
    let tool = ur5.link_transform(&placement, ur5.find_link("tool0").unwrap()).translation;
    assert!((tool - DVec3::new(0.81725, 0.19145, -0.005491)).length() < 1e-4, "{tool}");
}
