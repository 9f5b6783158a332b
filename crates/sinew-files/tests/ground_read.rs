//! Grounds in, from OBJ and glTF, sound and damaged.

mod bvh_support;
mod real;

use std::{
    fs,
    path::{Path, PathBuf},
};

use bvh_support::folder;
use real::data;
use sinew::{
    glam::{Affine3, DVec3, Vec3},
    ground::{Filter, Ground, MeshGround, TriangleMesh},
};
use sinew_files::{FileError, ReadOptions, UpAxis, ground};

fn write(test: &str, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder(&format!("ground-{test}")).join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn obj(text: &str, options: &ReadOptions) -> Result<TriangleMesh, FileError> {
    ground::obj::from_bytes(text.as_bytes(), Path::new("level.obj"), options)
}

/// Signed area seen from above.
fn area(mesh: &TriangleMesh) -> f32 {
    mesh.triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|i| mesh.positions[i as usize]);
            0.5 * (b - a).cross(c - a).y
        })
        .sum()
}

const LEVEL: &str = "# a level
mtllib level.mtl
o floor
v 0 0 0
v 2 0 0 0.5 0.5 0.5
v 2 0 -1
v 0 0 -1
vt 0 0
vn 0 1 0
usemtl stone
s off
f 1/1/1 2/1/1 3/1/1 4/1/1
g ledge
v 0 1 0
v 1 1 0
v 0 1 -1
f -3// -2 \\
  -1
f 8 9 10
v 5 0 0
v 6 0 0
v 5 0 -1
l 1 2
";

#[test]
fn faces_of_an_obj() {
    let mesh = obj(LEVEL, &ReadOptions::default()).unwrap();
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3], [4, 5, 6], [7, 8, 9]]);
    assert!((area(&mesh) - 3.0).abs() < 1e-6);
    assert_eq!(mesh.bounds(), Some((Vec3::new(0.0, 0.0, -1.0), Vec3::new(6.0, 1.0, 0.0))));
}

#[test]
fn unit_and_axis_of_an_obj() {
    // The same level as a program with Z up and centimetres would write it: (x, y, z) for our (x, z, -y).
    let text = "v 0 0 0\nv 200 0 0\nv 200 100 0\nv 0 100 50\nf 1 2 3 4\n";
    let mesh = obj(text, &ReadOptions { scale: 0.01, up: UpAxis::Z, ..ReadOptions::default() }).unwrap();
    assert!((mesh.positions[3] - Vec3::new(0.0, 0.5, -1.0)).length() < 1e-6);
    assert!((area(&mesh) - 2.0).abs() < 1e-6);
}

#[test]
fn what_is_wrong_with_an_obj_is_told_with_its_line() {
    let cases = [
        ("v 0 0\n", 1, "3 numbers"),
        ("v 0 0 0\nv 0 nan 0\n", 2, "not finite"),
        ("v 0 0 0\nv 0 1,5 0\n", 2, "`1,5` is not a number"),
        ("v 0 0 1e300\n", 1, "too far"),
        ("v 0 0 0\nf 1 2\n", 2, "a face of 2 corners"),
        ("v 0 0 0\nf 1 1 0\n", 2, "vertex 0"),
        ("v 0 0 0\nf 1 1 -2\n", 2, "no vertex -2: there are 1"),
        ("v 0 0 0\nf 1 1 2\n\n", 2, "no vertex 2: there are 1"),
        ("v 0 0 0\nf 1 1 99999999999\n\n", 2, "vertex 99999999999"),
        ("v 0 0 0\nf 1 1 -9223372036854775808\n\n", 2, "vertex -9223372036854775808"),
        ("v 0 0 0\nf 1 1 a\n\n", 2, "`a` is no vertex"),
    ];
    for (text, wanted, says) in cases {
        match obj(text, &ReadOptions::default()) {
            Err(FileError::Line { line, what, .. }) => {
                assert!(line == wanted && what.contains(says), "{text}: {line}: {what}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn a_ground_without_triangles_is_none() {
    for text in ["", "v 0 0 0\n", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "\\", "f"] {
        let path = write("obj-empty", "level.obj", text.as_bytes());
        let error = ground::read(&path, &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains("level.obj") && !error.contains('\n'), "{error}");
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }
    let path = write("gltf-empty", "level.gltf", br#"{"asset": {"version": "2.0"}}"#);
    let error = ground::read(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("at least one triangle"), "{error}");
    let other = path.with_extension("fbx");
    assert!(matches!(ground::read(&other, &ReadOptions::default()), Err(FileError::Ending { .. })));
    let absent = path.with_extension("obj");
    assert!(matches!(ground::read(&absent, &ReadOptions::default()), Err(FileError::Io { .. })));
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
}

#[test]
fn damage_to_an_obj_never_panics() {
    for at in 0..LEVEL.len() {
        for byte in [b'\\', b'-', b'9', b'/', b'\n', b'f', 0xff] {
            let mut bytes = LEVEL.as_bytes().to_vec();
            bytes[at] = byte;
            match ground::obj::from_bytes(&bytes, Path::new("level.obj"), &ReadOptions::default()) {
                Ok(mesh) => mesh.check().unwrap(),
                Err(error) => assert!(matches!(error, FileError::Line { .. }), "{error}"),
            }
        }
    }
}

/// A square as strip, fan, list and indexed list under nodes that turn, scale and mirror.
#[test]
fn every_mode_of_gltf_under_its_node() {
    let corners = |order: [[f32; 2]; 4]| order.map(|[x, z]| [x, 0.0, z]);
    let fan = corners([[0., 0.], [0., 1.], [1., 1.], [1., 0.]]);
    let strip = corners([[0., 0.], [0., 1.], [1., 0.], [1., 1.]]);
    let list = [fan[0], fan[1], fan[2], fan[0], fan[2], fan[3]];
    let mut bytes: Vec<u8> =
        [&fan[..], &strip[..], &list[..]].concat().iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    bytes.extend([0u8, 1, 2, 0, 2, 3]);
    let json = r#"{
        "asset": {"version": "2.0"}, "scene": 0,
        "scenes": [{"nodes": [0, 2, 3, 4]}],
        "nodes": [
            {"translation": [10, 0, 0], "children": [1]}, {"scale": [2, 1, 1], "mesh": 0},
            {"translation": [0, 0, 10], "scale": [-1, 1, 1], "mesh": 1},
            {"translation": [0, 5, 0], "rotation": [0, 1, 0, 0], "mesh": 2},
            {"translation": [0, 7, 0], "mesh": 3}
        ],
        "meshes": [
            {"primitives": [{"mode": 6, "attributes": {"POSITION": 0}}]},
            {"primitives": [{"mode": 5, "attributes": {"POSITION": 1}}]},
            {"primitives": [{"attributes": {"POSITION": 2}}]},
            {"primitives": [{"mode": 4, "indices": 3, "attributes": {"POSITION": 0}}, {"mode": 1, "attributes": {"POSITION": 0}}]}
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 4},
            {"bufferView": 0, "byteOffset": 48, "componentType": 5126, "type": "VEC3", "count": 4},
            {"bufferView": 0, "byteOffset": 96, "componentType": 5126, "type": "VEC3", "count": 6},
            {"bufferView": 1, "componentType": 5121, "type": "SCALAR", "count": 6}
        ],
        "bufferViews": [{"buffer": 0, "byteLength": 168}, {"buffer": 0, "byteOffset": 168, "byteLength": 6}],
        "buffers": [{"uri": "level.bin", "byteLength": 174}]
    }"#;
    let path = write("modes", "level.gltf", json.as_bytes());
    fs::write(path.with_extension("bin"), bytes).unwrap();
    let mesh =
        ground::read(&path, &ReadOptions { scale: 0.01, up: UpAxis::Z, ..ReadOptions::default() }).unwrap();
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
    assert_eq!(mesh.triangles.len(), 8);
    // All face up; the first is twice as wide.
    assert!((area(&mesh) - 5.0).abs() < 1e-6);
    let ground = MeshGround::new(mesh).unwrap();
    for (x, z, height) in
        [(11.9, 0.1, 0.0), (-0.9, 10.1, 0.0), (-0.1, -0.9, 5.0), (0.9, 0.9, 7.0), (0.1, 0.5, 7.0)]
    {
        let hit = ground.cast_ray(Vec3::new(x, 20.0, z), Vec3::NEG_Y, 50.0, &Filter::ALL).unwrap();
        assert!((hit.point.y - height).abs() < 1e-5, "{x} {z}: {hit:?}");
    }
    assert_eq!(ground.cast_ray(Vec3::new(0.9, 20.0, 10.1), Vec3::NEG_Y, 50.0, &Filter::ALL), None);
}

/// Height of a triangle at a place seen from above, by the areas of the three parts that the place cuts it into.
fn height_at([a, b, c]: [DVec3; 3], p: DVec3) -> Option<f64> {
    let twice = |a: DVec3, b: DVec3, c: DVec3| (b.x - a.x) * (c.z - a.z) - (c.x - a.x) * (b.z - a.z);
    let all = twice(a, b, c);
    let parts = [twice(p, b, c), twice(a, p, c), twice(a, b, p)].map(|x| x / all);
    let inside = all != 0.0 && parts.iter().all(|&x| x >= 0.0);
    inside.then(|| parts[0] * a.y + parts[1] * b.y + parts[2] * c.y)
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn a_real_terrain_carries_rays() {
    let path = data("gltf/terrain_bevy.glb");
    let mesh = ground::read(&path, &ReadOptions::default()).unwrap();
    let count = mesh.triangles.len();
    assert!((30_000..33_000).contains(&count), "{count} triangles");
    let (low, high) = mesh.bounds().unwrap();
    let (size, middle) = (high - low, (low + high) * 0.5);
    // Scaled so that its longer side is 20 m.
    let scale = 20.0 / size.x.max(size.z);
    let fitted =
        mesh.transformed(&(Affine3::from_scale(Vec3::splat(scale)) * Affine3::from_translation(-middle)));
    let ground = MeshGround::new(fitted).unwrap();
    let (low, high) = ground.mesh().bounds().unwrap();
    let mut hits = 0;
    for i in 0..40 {
        for k in 0..40 {
            let at = |n: u8| 0.05 + 0.9 * f32::from(n) / 39.0;
            let over =
                Vec3::new(low.x + (high.x - low.x) * at(i), high.y + 1.0, low.z + (high.z - low.z) * at(k));
            let hit = ground.cast_ray(over, Vec3::NEG_Y, 100.0, &Filter::ALL);
            let highest = ground.mesh().triangles.iter().filter_map(|t| {
                height_at(t.map(|i| ground.mesh().positions[i as usize].as_dvec3()), over.as_dvec3())
            });
            match (hit, highest.reduce(f64::max)) {
                (Some(hit), Some(y)) => {
                    hits += 1;
                    assert!((f64::from(hit.point.y) - y).abs() < 1e-5, "{hit:?}, but {y}");
                }
                (None, None) => {}
                other => panic!("{over}: {other:?}"),
            }
        }
    }
    assert!(hits > 900, "{hits}");
}
