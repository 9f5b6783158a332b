//! Helpers of the tests of `sinew plant`: the command, a folder per test, and a GLB reader that shares no code with the
//! project's.
#![allow(dead_code)] // Each test file uses a part.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::{Value, json};

#[track_caller]
pub fn says(text: &str, words: &[&str]) {
    assert!(words.iter().all(|w| text.contains(w)), "{text:?} does not say {words:?}");
}

/// An empty folder in which a test runs the command.
pub struct Place(pub PathBuf);

impl Place {
    pub fn new(name: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("plant").join(name);
        // An earlier run may have left its files.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    /// A folder with the sample as `walk.glb`.
    pub fn with_walk(name: &str) -> Self {
        let place = Self::new(name);
        place.write("walk.glb", Glb::sample().bytes());
        place
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.0.join(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn glb(&self, name: &str) -> Glb {
        Glb::open(&self.read(name))
    }

    pub fn names(&self) -> Vec<String> {
        let name = |e: fs::DirEntry| e.file_name().into_string().unwrap();
        let mut names: Vec<_> = fs::read_dir(&self.0).unwrap().map(|e| name(e.unwrap())).collect();
        names.sort();
        names
    }

    fn run(&self, line: &str) -> Output {
        let words = line.split_whitespace();
        Command::new(env!("CARGO_BIN_EXE_sinew")).args(words).current_dir(&self.0).output().unwrap()
    }

    /// Runs a command line that must succeed, and returns its standard output.
    #[track_caller]
    pub fn done(&self, line: &str) -> String {
        let out = self.run(line);
        let stderr = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success() && stderr.is_empty(), "{line}: {stderr}");
        String::from_utf8(out.stdout).unwrap()
    }

    /// Runs a command line that must fail and change no file, and returns its one line.
    #[track_caller]
    pub fn failed(&self, line: &str) -> String {
        self.ends(line, 1)
    }

    /// Runs an invalid command line, and returns its message.
    #[track_caller]
    pub fn refused(&self, line: &str) -> String {
        self.ends(line, 2)
    }

    #[track_caller]
    fn ends(&self, line: &str, code: i32) -> String {
        let state = || -> Vec<_> {
            let bytes = |name: String| (fs::read(self.0.join(&name)).ok(), name);
            self.names().into_iter().map(bytes).collect()
        };
        let before = state();
        let out = self.run(line);
        let stderr = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(code), "{line}: {stderr}");
        assert!(out.stdout.is_empty(), "{line}");
        assert!(code == 2 || stderr.lines().count() == 1, "{line}: {stderr}");
        assert!(before == state(), "{line} changed files: {:?}", self.names());
        stderr
    }
}

/// Node, path, key times and values.
pub type Track = (String, String, Vec<f32>, Vec<Vec<f32>>);

/// GLB with one buffer.
#[derive(Clone)]
pub struct Glb {
    pub json: Value,
    pub bin: Vec<u8>,
}

fn word(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

impl Glb {
    /// The built-in character, with its one clip.
    pub fn sample() -> Self {
        let model = sinew_files::sample::mannequin().unwrap();
        let sinew_files::Source::Gltf(document) = model.source else { panic!("the sample is glTF") };
        let mut bytes = Vec::new();
        document.to_glb(&mut bytes).unwrap();
        Self::open(&bytes)
    }

    pub fn open(bytes: &[u8]) -> Self {
        let length = word(bytes, 12);
        let json = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
        Self { json, bin: bytes[28 + length..].to_vec() }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut json = self.json.clone();
        json["buffers"][0]["byteLength"] = json!(self.bin.len());
        let mut text = json.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut bin = self.bin.clone();
        bin.resize(bin.len().next_multiple_of(4), 0);
        let mut out = Vec::new();
        out.extend(b"glTF\x02\0\0\0");
        out.extend(((28 + text.len() + bin.len()) as u32).to_le_bytes());
        for (kind, data) in [(b"JSON", &text), (b"BIN\0", &bin)] {
            out.extend((data.len() as u32).to_le_bytes());
            out.extend(kind);
            out.extend(data);
        }
        out
    }

    pub fn node(&self, name: &str) -> usize {
        let nodes = self.json["nodes"].as_array().unwrap();
        nodes.iter().position(|n| n["name"] == name).unwrap_or_else(|| panic!("no node {name}"))
    }

    /// Offset of an accessor's floats, its number of elements, and the number of floats in each.
    fn floats(&self, accessor: usize) -> (usize, usize, usize) {
        let accessor = &self.json["accessors"][accessor];
        let view = &self.json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        assert_eq!(accessor["componentType"], 5126);
        let offset = |v: &Value| v["byteOffset"].as_u64().unwrap_or(0) as usize;
        let width = match accessor["type"].as_str().unwrap() {
            "SCALAR" => 1,
            "VEC3" => 3,
            _ => 4,
        };
        (offset(view) + offset(accessor), accessor["count"].as_u64().unwrap() as usize, width)
    }

    pub fn values(&self, accessor: usize) -> Vec<Vec<f32>> {
        let (at, count, width) = self.floats(accessor);
        let float = |i: usize| f32::from_le_bytes(self.bin[at + 4 * i..at + 4 * i + 4].try_into().unwrap());
        (0..count).map(|k| (0..width).map(|c| float(k * width + c)).collect()).collect()
    }

    /// Overwrites one float of an accessor.
    pub fn set(&mut self, accessor: usize, element: usize, component: usize, value: f32) {
        let (at, _, width) = self.floats(accessor);
        let at = at + 4 * (element * width + component);
        self.bin[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    pub fn animation(&self, name: &str) -> &Value {
        let all = self.json["animations"].as_array().unwrap();
        all.iter().find(|a| a["name"] == name).unwrap_or_else(|| panic!("no animation {name}"))
    }

    /// Accessors of key times and values.
    pub fn sampler(&self, animation: &str, node: &str, path: &str) -> Option<(usize, usize)> {
        let (animation, node) = (self.animation(animation), self.node(node));
        let channels = animation["channels"].as_array().unwrap();
        let channel = channels.iter().find(|c| c["target"]["node"] == node && c["target"]["path"] == path)?;
        let sampler = &animation["samplers"][channel["sampler"].as_u64().unwrap() as usize];
        Some((sampler["input"].as_u64()? as usize, sampler["output"].as_u64()? as usize))
    }

    /// All tracks of an animation.
    pub fn tracks(&self, animation: &str) -> Vec<Track> {
        let channels = self.animation(animation)["channels"].as_array().unwrap();
        let track = |c: &Value| {
            let node = c["target"]["node"].as_u64().unwrap() as usize;
            let node = self.json["nodes"][node]["name"].as_str().unwrap().to_owned();
            let path = c["target"]["path"].as_str().unwrap().to_owned();
            let (input, output) = self.sampler(animation, &node, &path).unwrap();
            (node, path, self.values(input).concat(), self.values(output))
        };
        channels.iter().map(track).collect()
    }

    /// Puts all nodes below a new root.
    pub fn wrap(&mut self, mut node: Value) {
        node["children"] = self.json["scenes"][0]["nodes"].clone();
        node["name"] = json!("wrap");
        let nodes = self.json["nodes"].as_array_mut().unwrap();
        nodes.push(node);
        let index = nodes.len() - 1;
        self.json["scenes"][0]["nodes"] = json!([index]);
    }
}

/// Stairs of twelve steps of 12 x 40 cm along Z as an OBJ, with each point transformed by `change`.
pub fn stairs(change: impl Fn([f32; 3]) -> [f32; 3]) -> String {
    let (mut vertices, mut faces) = (String::new(), String::new());
    let mut count = 0;
    let mut quad = |a: [f32; 2], b: [f32; 2]| {
        for [x, y, z] in [[-2.0, a[0], a[1]], [2.0, a[0], a[1]], [2.0, b[0], b[1]], [-2.0, b[0], b[1]]] {
            let [x, y, z] = change([x, y, z]);
            vertices += &format!("v {x} {y} {z}\n");
        }
        faces += &format!("f {} {} {} {}\n", count + 1, count + 2, count + 3, count + 4);
        count += 4;
    };
    let (mut y, mut z) = (0.0, 0.7);
    quad([y, -3.0], [y, z]);
    for step in 0..12 {
        quad([y, z], [y + 0.12, z]);
        y += 0.12;
        let end = z + if step == 11 { 4.0 } else { 0.4 };
        quad([y, z], [y, end]);
        z = end;
    }
    vertices + &faces
}

/// Whether two lists of numbers differ by at most `by`.
pub fn near(a: &[f32], b: &[f32], by: f32) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() <= by)
}

/// Asserts that every key of every animation of a file is finite.
#[track_caller]
pub fn all_finite(path: &Path) {
    let glb = Glb::open(&fs::read(path).unwrap());
    for animation in glb.json["animations"].as_array().unwrap() {
        for (node, what, times, values) in glb.tracks(animation["name"].as_str().unwrap()) {
            let finite = times.iter().chain(values.iter().flatten()).all(|x| x.is_finite());
            assert!(finite, "{}: {what} of {node}", path.display());
        }
    }
}
