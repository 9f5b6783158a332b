//! A glTF document made by hand, by code that shares nothing with the crate's.
#![allow(dead_code)] // Each test file uses a part.

use serde_json::{Value, json};

pub struct Hand {
    pub json: Value,
    pub bin: Vec<u8>,
}

impl Hand {
    /// A document with these nodes and no scene.
    pub fn new(nodes: Value) -> Self {
        let json = json!({
            "asset": {"version": "2.0"}, "nodes": nodes, "accessors": [], "bufferViews": [], "buffers": [{"byteLength": 0}]
        });
        Self { json, bin: Vec::new() }
    }

    fn push(&mut self, list: &str, value: Value) -> usize {
        let array = self.json[list].as_array_mut().unwrap();
        array.push(value);
        array.len() - 1
    }

    /// A buffer view of these bytes.
    pub fn view(&mut self, bytes: &[u8]) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let view = json!({"buffer": 0, "byteOffset": self.bin.len(), "byteLength": bytes.len()});
        self.bin.extend(bytes);
        self.json["buffers"][0]["byteLength"] = json!(self.bin.len());
        self.push("bufferViews", view)
    }

    /// An accessor of floats.
    pub fn floats(&mut self, kind: &str, values: &[f32]) -> usize {
        let n = match kind {
            "SCALAR" => 1,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        let view = self.view(&values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>());
        self.accessor(
            json!({"bufferView": view, "componentType": 5126, "count": values.len() / n, "type": kind}),
        )
    }

    pub fn accessor(&mut self, accessor: Value) -> usize {
        self.push("accessors", accessor)
    }

    /// An animation of one channel.
    pub fn animate(&mut self, name: &str, node: usize, path: &str, way: &str, input: usize, output: usize) {
        if self.json.get("animations").is_none() {
            self.json["animations"] = json!([]);
        }
        self.push(
            "animations",
            json!({
                "name": name,
                "samplers": [{"input": input, "output": output, "interpolation": way}],
                "channels": [{"sampler": 0, "target": {"node": node, "path": path}}],
            }),
        );
    }

    pub fn glb(&self) -> Vec<u8> {
        glb(serde_json::to_string(&self.json).unwrap().as_bytes(), &self.bin)
    }
}

pub fn glb(json: &[u8], bin: &[u8]) -> Vec<u8> {
    let (mut json, mut bin) = (json.to_vec(), bin.to_vec());
    json.resize(json.len().next_multiple_of(4), b' ');
    bin.resize(bin.len().next_multiple_of(4), 0);
    let total = 12 + 8 + json.len() + 8 + bin.len();
    let mut out = b"glTF\x02\0\0\0".to_vec();
    out.extend((total as u32).to_le_bytes());
    out.extend((json.len() as u32).to_le_bytes());
    out.extend(b"JSON");
    out.extend(json);
    out.extend((bin.len() as u32).to_le_bytes());
    out.extend(b"BIN\0");
    out.extend(bin);
    out
}

/// Two bones with a skin, a clip of all three interpolations on them, a sparse accessor, and a rigid mesh: something of all
/// that is read.
pub fn small() -> Hand {
    let mut hand = Hand::new(json!([
        {"name": "root", "children": [1, 2], "translation": [0, 1, 0]},
        {"name": "tip", "translation": [0.0, 0.5, 0.0], "rotation": [0, 0, 0, 1], "scale": [1, 1, 1]},
        {"name": "box", "mesh": 1},
        {"name": "body", "mesh": 0, "skin": 0},
    ]));
    hand.json["scenes"] = json!([{"nodes": [0, 3]}]);
    hand.json["scene"] = json!(0);
    let mut inverse = [[0.0f32; 16]; 2];
    for (m, y) in inverse.iter_mut().zip([-1.0, -1.5]) {
        for i in [0, 5, 10, 15] {
            m[i] = 1.0;
        }
        m[13] = y;
    }
    let inverse = hand.floats("MAT4", inverse.as_flattened());
    hand.json["skins"] = json!([{"joints": [0, 1], "inverseBindMatrices": inverse}]);
    let positions = hand.floats("VEC3", &[0.0, 1.2, 0.0, 0.1, 1.6, 0.0, 0.0, 1.4, 0.2]);
    let joints = hand.view(&[0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0]);
    let joints =
        hand.accessor(json!({"bufferView": joints, "componentType": 5121, "count": 3, "type": "VEC4"}));
    let weights = hand.view(&[200, 55, 0, 0, 0, 255, 0, 0, 128, 127, 0, 0]);
    let weights = hand.accessor(
        json!({"bufferView": weights, "componentType": 5121, "normalized": true, "count": 3, "type": "VEC4"}),
    );
    let (indices, values) = (hand.view(&[1, 0]), hand.view(&[0u8; 12]));
    let sparse = hand.accessor(json!({
        "componentType": 5126, "count": 3, "type": "VEC3",
        "sparse": {"count": 1, "indices": {"bufferView": indices, "componentType": 5123}, "values": {"bufferView": values}}
    }));
    hand.json["meshes"] = json!([
        {"primitives": [{"attributes": {"POSITION": positions, "JOINTS_0": joints, "WEIGHTS_0": weights}}]},
        {"primitives": [{"attributes": {"POSITION": sparse}}]},
    ]);
    let times = hand.floats("SCALAR", &[0.0, 1.0]);
    let moves = hand.floats("VEC3", &[0.0, 0.5, 0.0, 0.0, 0.7, 0.0]);
    let turns = hand.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.6, 0.0, 0.8]);
    let mut cubic = [0.0f32; 18];
    for i in [3, 4, 5, 12, 13, 14] {
        cubic[i] = 1.0;
    }
    let cubic = hand.floats("VEC3", &cubic);
    hand.animate("step", 1, "translation", "STEP", times, moves);
    hand.animate("linear", 1, "rotation", "LINEAR", times, turns);
    hand.animate("cubic", 0, "scale", "CUBICSPLINE", times, cubic);
    hand
}
