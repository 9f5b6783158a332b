//! Pictures of a walk made of sines. They are kept in `target/pictures`, for inspection.

use std::{f32::consts::TAU, fs, path::PathBuf, sync::Arc};

use glam::Vec3;
use sinew::{JointId, JointTransform, Pose, Skeleton, body::Side, ground::TriangleMesh};

use super::{
    canvas::{Canvas, Mark},
    figure::{Figure, sides_by_name},
    path::Rect,
    png,
    save::save,
    style, svg,
    walk::{Cast, FootSeries, Picture},
};

/// Joints of a standing figure of 1.8 m that faces +Z: name, parent, position in metres.
const BODY: [(&str, &str, [f32; 3]); 20] = [
    ("hips", "", [0.0, 0.95, 0.0]),
    ("spine", "hips", [0.0, 1.10, 0.0]),
    ("chest", "spine", [0.0, 1.32, 0.0]),
    ("neck", "chest", [0.0, 1.50, 0.0]),
    ("head", "neck", [0.0, 1.60, 0.02]),
    ("top", "head", [0.0, 1.80, 0.02]),
    ("upper_arm.l", "chest", [0.19, 1.44, 0.0]),
    ("forearm.l", "upper_arm.l", [0.22, 1.16, 0.0]),
    ("hand.l", "forearm.l", [0.22, 0.90, 0.0]),
    ("upper_arm.r", "chest", [-0.19, 1.44, 0.0]),
    ("forearm.r", "upper_arm.r", [-0.22, 1.16, 0.0]),
    ("hand.r", "forearm.r", [-0.22, 0.90, 0.0]),
    ("thigh.l", "hips", [0.1, 0.92, 0.0]),
    ("shin.l", "thigh.l", [0.1, 0.50, 0.0]),
    ("foot.l", "shin.l", [0.1, 0.09, 0.0]),
    ("toes.l", "foot.l", [0.1, 0.02, 0.15]),
    ("thigh.r", "hips", [-0.1, 0.92, 0.0]),
    ("shin.r", "thigh.r", [-0.1, 0.50, 0.0]),
    ("foot.r", "shin.r", [-0.1, 0.09, 0.0]),
    ("toes.r", "foot.r", [-0.1, 0.02, 0.15]),
];

const RATE: f32 = 30.0;

struct Walk {
    skeleton: Arc<Skeleton>,
    before: Vec<Pose>,
    after: Vec<Pose>,
    times: Vec<f32>,
    feet: Vec<FootSeries>,
    casts: Vec<Cast>,
    ground: TriangleMesh,
    travel: Vec3,
}

fn skeleton() -> Arc<Skeleton> {
    let mut builder = Skeleton::builder();
    for (name, parent, _) in BODY {
        let parent = BODY.iter().position(|b| b.0 == parent);
        builder.add(name, parent, JointTransform::IDENTITY);
    }
    Arc::new(builder.build().unwrap().0)
}

fn find(skeleton: &Skeleton, name: &str) -> JointId {
    skeleton.find(name).unwrap()
}

/// A pose whose joints are moved to positions by translations alone.
fn pose(skeleton: &Arc<Skeleton>, position: impl Fn(&str) -> Vec3) -> Pose {
    let mut pose = Pose::rest(skeleton);
    for (name, parent, _) in BODY {
        let from = if parent.is_empty() { Vec3::ZERO } else { position(parent) };
        pose.set_translation(find(skeleton, name), position(name) - from);
    }
    pose.update();
    pose
}

/// Stairs with treads of 29 cm and rises of 17 cm, after a metre of floor, scaled by `size`.
fn stairs(size: f32) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    let at = |x: f32, y: f32, z: f32| Vec3::new(x, y, z) * size;
    let (mut y, mut z) = (0.0, 1.0);
    mesh.push_quad([at(-1., 0., -3.), at(-1., 0., 1.), at(1., 0., 1.), at(1., 0., -3.)]);
    for _ in 0..8 {
        mesh.push_quad([at(-1., y, z), at(-1., y + 0.12, z), at(1., y + 0.12, z), at(1., y, z)]);
        y += 0.12;
        mesh.push_quad([at(-1., y, z), at(-1., y, z + 0.4), at(1., y, z + 0.4), at(1., y, z)]);
        z += 0.4;
    }
    mesh.push_quad([at(-1., y, z), at(-1., y, z + 200.0), at(1., y, z + 200.0), at(1., y, z)]);
    mesh
}

fn height_at(z: f32) -> f32 {
    if z < 1.0 { 0.0 } else { (((z - 1.0) / 0.4).floor() + 1.0).min(8.0) * 0.12 }
}

/// A walk of `seconds` at `speed` m/s, by a figure of 1.8 m times `size`.
fn walk(seconds: f32, speed: f32, size: f32) -> Walk {
    let skeleton = skeleton();
    let frames = (seconds * RATE) as usize + 1;
    let mut walk = Walk {
        skeleton: skeleton.clone(),
        before: Vec::new(),
        after: Vec::new(),
        times: (0..frames).map(|i| i as f32 / RATE).collect(),
        feet: Vec::new(),
        casts: Vec::new(),
        ground: stairs(size),
        travel: Vec3::Z * speed * size,
    };
    for side in [Side::Left, Side::Right] {
        let name = if side == Side::Left { "left foot" } else { "right foot" };
        let ankle = find(&skeleton, if side == Side::Left { "foot.l" } else { "foot.r" });
        walk.feet.push(FootSeries {
            name: name.into(),
            side: Some(side),
            ankle: Some(ankle),
            ..FootSeries::default()
        });
    }
    for &t in &walk.times {
        let root = Vec3::Z * speed * t;
        // Position and height of a foot: half a second on the floor, half a second in the air.
        let foot = |k: usize| {
            let phase = t + 0.5 * k as f32;
            let (step, u) = (phase.floor(), phase.fract());
            let planted = |step: f32| (step - 0.5 * k as f32 + 0.25) * speed;
            let swing = ((u - 0.5) * 2.0).max(0.0);
            let z = planted(step) + speed * (swing * swing * (3.0 - 2.0 * swing));
            let lift = 0.14 * (swing * std::f32::consts::PI).sin();
            (z, lift, planted(step), swing)
        };
        for planted in [false, true] {
            let climb = if planted { 0.5 * (height_at(foot(0).0) + height_at(foot(1).0)) } else { 0.0 };
            let position = |name: &str| {
                let rest = BODY.iter().find(|b| b.0 == name).map_or(Vec3::ZERO, |b| Vec3::from(b.2));
                let k = usize::from(name.ends_with(".r"));
                let (z, lift, from, swing) = foot(k);
                let floor = if planted {
                    height_at(from) + (height_at(z) - height_at(from)).max(0.0) * (swing * 6.0).min(1.0)
                } else {
                    0.0
                };
                let bob = Vec3::Y * (climb + 0.02 * (t * 12.6).sin() - 0.06);
                let ankle = Vec3::new(rest.x, floor + lift + 0.09, z);
                let thigh = Vec3::new(rest.x, 0.92, 0.0) + root + bob;
                let at = match name.split('.').next().unwrap() {
                    "foot" => ankle,
                    "toes" => ankle + Vec3::new(0.0, -0.07 - 0.05 * swing * (1.0 - swing), 0.15),
                    "shin" => {
                        let reach = (ankle - thigh).length().min(0.83);
                        let out = (0.42f32.powi(2) - (reach / 2.0).powi(2)).max(0.0).sqrt();
                        (ankle + thigh) / 2.0 + Vec3::Z * out
                    }
                    "hand" => {
                        rest + root + bob + Vec3::Z * (0.28 * (TAU * (t + 0.5 * k as f32)).sin() + 0.05)
                    }
                    "forearm" => rest + root + bob + Vec3::Z * (0.12 * (TAU * (t + 0.5 * k as f32)).sin()),
                    _ => rest + root + bob,
                };
                at * size
            };
            let made = pose(&skeleton, position);
            if planted { walk.after.push(made) } else { walk.before.push(made) }
        }
        for k in 0..2 {
            let (z, lift, from, swing) = foot(k);
            let series = &mut walk.feet[k];
            series.height_before.push((lift - height_at(z)) * size);
            let floor = height_at(from) + (height_at(z) - height_at(from)).max(0.0) * (swing * 6.0).min(1.0);
            series.height_after.push((lift + floor - height_at(z)) * size);
            let x = if k == 0 { 0.1 } else { -0.1 };
            walk.casts.push(Cast {
                from: Vec3::new(x, height_at(z) + 0.5, z) * size,
                to: Vec3::new(x, height_at(z), z) * size,
                hit: true,
            });
        }
    }
    let mut start = 0.0;
    while start < seconds {
        walk.feet[0].contacts.push((start, start + 0.5));
        walk.feet[1].contacts.push((start + 0.5, start + 1.0));
        start += 1.0;
    }
    walk
}

impl Walk {
    fn picture<'a>(&'a self, title: &str, figure: &'a Figure) -> Picture<'a> {
        Picture {
            title: title.into(),
            subtitle: "Walking_A on low stairs (12 x 40 cm), travel 1.3 m/s".into(),
            notes: vec![
                "99 % of the time in contact is planted; deepest penetration 1.2 mm, mean slide 0.4 mm/s."
                    .into(),
            ],
            figure,
            before: &self.before,
            after: &self.after,
            times: &self.times,
            ground: &self.ground,
            travel: self.travel,
            feet: &self.feet,
            casts: &self.casts,
        }
    }

    fn draw(&self, title: &str) -> Canvas {
        let sides = sides_by_name(&self.skeleton);
        let figure = Figure::new(&self.before[0], &[], &[], |j| sides[j.index()]);
        let picture = self.picture(title, &figure);
        let canvas = picture.draw();
        check(&canvas);
        keep(&canvas, title);
        canvas
    }
}

fn keep(canvas: &Canvas, title: &str) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/pictures");
    fs::create_dir_all(&folder).unwrap();
    save(canvas, &folder.join(format!("{title}.png"))).unwrap();
    save(canvas, &folder.join(format!("{title}.svg"))).unwrap();
}

/// Whether two rectangles share more than an edge.
fn overlap(a: &Rect, b: &Rect) -> bool {
    a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom()
}

/// Asserts that every text is on the page and overlaps no other.
fn check(canvas: &Canvas) {
    let texts: Vec<_> = canvas
        .marks()
        .iter()
        .filter_map(|(_, m)| if let Mark::Text { text, room, .. } = m { Some((text, *room)) } else { None })
        .collect();
    assert!(!texts.is_empty());
    for (i, (text, room)) in texts.iter().enumerate() {
        assert!(room.x >= 0.0 && room.y >= 0.0, "{text} at {room:?}");
        assert!(room.right() <= canvas.width() as f32, "{text} at {room:?}");
        assert!(room.bottom() <= canvas.height() as f32, "{text} at {room:?}");
        for (other, place) in &texts[i + 1..] {
            assert!(!overlap(room, place), "{text} at {room:?} runs into {other} at {place:?}");
        }
    }
}

fn svg_of(canvas: &Canvas) -> String {
    let mut bytes = Vec::new();
    svg::write(canvas, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Number of pixels of this colour.
fn count(canvas: &Canvas, color: [u8; 3]) -> usize {
    let pixels = tiny_skia::Pixmap::decode_png(&png::encode(canvas).unwrap()).unwrap();
    pixels.pixels().iter().filter(|p| [p.red(), p.green(), p.blue()] == color).count()
}

#[test]
fn a_walk_shows_both_sides_the_ground_and_what_was_before() {
    let canvas = walk(4.0, 1.3, 1.0).draw("walk on stairs");
    for side in [Some(Side::Left), Some(Side::Right), None] {
        let [r, g, b, _] = style::body(side).0;
        assert!(count(&canvas, [r, g, b]) > 2000, "{side:?}");
    }
    for color in [style::BEFORE, style::EARTH] {
        let [r, g, b, _] = color.0;
        assert!(count(&canvas, [r, g, b]) > 500);
    }
}

#[test]
fn the_same_picture_gives_the_same_bytes() {
    let walk = walk(1.0, 1.3, 1.0);
    let (a, b) = (walk.draw("twice"), walk.draw("twice"));
    assert_eq!(png::encode(&a).unwrap(), png::encode(&b).unwrap());
    assert_eq!(svg_of(&a), svg_of(&b));
}

#[test]
fn svg_is_well_formed_and_says_what_its_letters_say() {
    let mut walk = walk(1.0, 1.3, 1.0);
    walk.feet[0].name = "left <foot> & \"toe\"".into();
    let svg = svg_of(&walk.draw("svg"));
    assert!(svg.contains("aria-label=\"left &lt;foot&gt; &amp; &quot;toe&quot;\""));
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
    // Every tag that is opened is closed.
    let opened = svg.matches("<g").count();
    assert_eq!(opened, svg.matches("</g>").count());
    assert_eq!(svg.matches('<').count(), svg.matches('>').count());
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
}

#[test]
fn odd_walks_are_drawn_too() {
    walk(0.0, 1.3, 1.0).draw("one frame");
    walk(77.0, 1.3, 1.0).draw("hundred metres");
    walk(3.0, 1.3, 0.006).draw("tiny");
    walk(3.0, 1.3, 60.0).draw("huge");
    let mut still = walk(2.0, 0.0, 1.0);
    still.draw("staying");
    still.feet.clear();
    still.casts.clear();
    still.draw("no feet");
    let mut none = walk(1.0, 1.3, 1.0);
    none.after.clear();
    none.draw("no frame");
    let mut broken = walk(2.0, 1.3, 1.0);
    broken.feet[0].height_after[7] = f32::NAN;
    broken.feet[1].height_before.truncate(3);
    broken.feet[1].contacts.push((f32::NAN, f32::INFINITY));
    broken.casts.push(Cast { from: Vec3::NAN, to: Vec3::INFINITY, hit: true });
    broken.ground.triangles.push([7, 8, 999]);
    broken.travel = Vec3::Y;
    broken.draw("broken");
    let mut long = walk(1.0, 1.3, 1.0);
    long.feet[0].name = "a very long name of a foot that would run off its plot ".repeat(4);
    long.draw(
        "long names, so long that they would leave the page if they were not cut off in time and marked so",
    );
}

// The walk is not planted but only lifted onto the stairs, which is enough for a picture.
#[test]
fn the_sample_is_drawn_with_its_skin() {
    let model = sinew_files::sample::mannequin().unwrap();
    let clip = &model.clips[0];
    let rest = Pose::rest(&model.skeleton);
    let body = sinew::body::BodyRoles::find(&rest, &model.declared_roles).unwrap();
    let figure = Figure::of_model(&model, &rest, Some(&body));
    let mut walk = walk(clip.duration(), 1.2, 1.0);
    walk.before.clear();
    walk.after.clear();
    for &time in &walk.times {
        let mut pose = rest.clone();
        clip.sample(clip.start() + time, &mut pose);
        let root = model.skeleton.joints().next().unwrap();
        let at = pose.local(root).translation;
        for (poses, lift) in [(&mut walk.before, 0.0), (&mut walk.after, height_at(1.2 * time + 0.1))] {
            pose.set_translation(root, at + Vec3::Z * 1.2 * time + Vec3::Y * lift);
            pose.update();
            poses.push(pose.clone());
        }
    }
    for (foot, side) in walk.feet.iter_mut().zip(Side::BOTH) {
        foot.ankle = Some(body.leg(side).foot);
    }
    let mut picture = walk.picture("sample", &figure);
    picture.notes.clear();
    let canvas = picture.draw();
    check(&canvas);
    keep(&canvas, "sample");
    keep(&crate::draw::picture(&model, Some(clip), 0.4), "sample pose");
}

#[path = "../../tests/common/real.rs"]
mod real;

#[test]
#[ignore = "needs SINEW_DATA"]
fn poses_of_real_files_are_drawn() {
    for (file, clip) in [
        ("gltf/KayKit_Knight.glb", "Walking_A"),
        ("gltf/CesiumMan.gltf", ""),
        ("gltf/mannequiny.glb", "run"),
        ("gltf/m2m_human_sample-rig.glb", ""),
        ("gltf/Fox.glb", "Walk"),
        ("gltf/vrm1_mtoon_test.vrm", ""),
        ("gltf/m2m_spider-animations.glb", ""),
        ("bvh/cmu_12_01_walk.bvh", "cmu_12_01_walk"),
        ("bvh/pymo_AV_8Walk_Meredith.bvh", "pymo_AV_8Walk_Meredith"),
    ] {
        let path = real::data(file);
        let mut options = sinew_files::ReadOptions::default();
        if file.ends_with("bvh") {
            options.scale = 0.056444;
        }
        let model = match sinew_files::Model::read(&path, &options) {
            Ok(model) => model,
            Err(e) => panic!("{e}"),
        };
        let clip = model.clips.iter().find(|c| c.name() == clip);
        let canvas = crate::draw::picture(&model, clip, 0.3);
        check(&canvas);
        keep(&canvas, &model.name);
    }
}
