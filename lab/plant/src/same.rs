//! Checks that the written file holds everything of the given one, decoded to the same values.

use gltf::image;

use crate::{
    accessor,
    scene::{Local, Scene},
};

/// The differences in words; empty if there are none.
pub fn differences(given: &Scene, written: &Scene) -> Vec<String> {
    let mut all = Differences(Vec::new());
    all.nodes(given, written);
    all.meshes(given, written);
    all.skins(given, written);
    all.animations(given, written);
    all.images(given, written);
    all.json(given, written);
    all.0
}

struct Differences(Vec<String>);

impl Differences {
    fn expect(&mut self, same: bool, what: impl FnOnce() -> String) {
        if !same {
            self.0.push(what());
        }
    }

    fn numbers(
        &mut self,
        a: (&gltf::Accessor, &Scene),
        b: (&gltf::Accessor, &Scene),
        what: impl Fn() -> String,
    ) {
        let kind = |x: &gltf::Accessor| (x.data_type(), x.dimensions(), x.normalized(), x.count());
        self.expect(kind(a.0) == kind(b.0), || format!("{}: {:?} became {:?}", what(), kind(a.0), kind(b.0)));
        match (accessor::numbers(a.0, &a.1.buffers), accessor::numbers(b.0, &b.1.buffers)) {
            // By bits: what is not a number must come back, too.
            (Ok(x), Ok(y)) => {
                let same = x.len() == y.len() && x.iter().zip(&y).all(|(a, b)| a.to_bits() == b.to_bits());
                self.expect(same, || format!("{}: values differ", what()));
            }
            (Err(e), _) | (_, Err(e)) => self.0.push(format!("{}: {e}", what())),
        }
    }

    fn nodes(&mut self, given: &Scene, written: &Scene) {
        self.expect(written.names.len() >= given.names.len(), || "nodes are missing".into());
        for (a, b) in given.document.nodes().zip(written.document.nodes()) {
            let i = a.index();
            let parts = |n: &gltf::Node| {
                (
                    n.name().map(str::to_owned),
                    n.mesh().map(|m| m.index()),
                    n.skin().map(|s| s.index()),
                    n.camera().map(|c| c.index()),
                )
            };
            self.expect(parts(&a) == parts(&b), || {
                format!("node {i}: {:?} became {:?}", parts(&a), parts(&b))
            });
            let same = match (given.rest[i], written.rest[i]) {
                (Local::Trs(t, r, s), Local::Trs(u, q, v)) => t == u && r == q && s == v,
                (Local::Matrix(m), Local::Matrix(n)) => m == n,
                _ => false,
            };
            self.expect(same, || format!("node {i}: its transform differs"));
            let children = |n: &gltf::Node| n.children().map(|c| c.index()).collect::<Vec<_>>();
            self.expect(children(&a) == children(&b), || format!("node {i}: its children differ"));
        }
        for (a, b) in given.document.scenes().zip(written.document.scenes()) {
            let roots = |s: &gltf::Scene| s.nodes().map(|n| n.index()).collect::<Vec<_>>();
            self.expect(roots(&b).starts_with(&roots(&a)), || {
                format!("scene {}: its nodes differ", a.index())
            });
        }
    }

    fn meshes(&mut self, given: &Scene, written: &Scene) {
        self.expect(written.document.meshes().len() >= given.document.meshes().len(), || {
            "meshes are missing".into()
        });
        for (a, b) in given.document.meshes().zip(written.document.meshes()) {
            let i = a.index();
            self.expect(a.name() == b.name() && a.weights() == b.weights(), || {
                format!("mesh {i}: name or weights differ")
            });
            self.expect(a.primitives().len() == b.primitives().len(), || {
                format!("mesh {i}: primitives are missing")
            });
            for (p, q) in a.primitives().zip(b.primitives()) {
                let what = |part: &str| format!("mesh {i} primitive {} {part}", p.index());
                self.expect(p.mode() == q.mode() && p.material().index() == q.material().index(), || {
                    what("mode or material")
                });
                self.expect(p.attributes().count() == q.attributes().count(), || what("attributes"));
                for (semantic, x) in p.attributes() {
                    match q.get(&semantic) {
                        Some(y) => {
                            self.numbers((&x, given), (&y, written), || what(&format!("{semantic:?}")))
                        }
                        None => self.0.push(what(&format!("{semantic:?}: missing"))),
                    }
                }
                match (p.indices(), q.indices()) {
                    (Some(x), Some(y)) => self.numbers((&x, given), (&y, written), || what("indices")),
                    (None, None) => {}
                    _ => self.0.push(what("indices: missing or new")),
                }
                let targets = |p: &gltf::Primitive| {
                    p.morph_targets()
                        .map(|t| [t.positions().is_some(), t.normals().is_some(), t.tangents().is_some()])
                        .collect::<Vec<_>>()
                };
                self.expect(targets(&p) == targets(&q), || what("morph targets"));
                for (x, y) in p.morph_targets().zip(q.morph_targets()) {
                    for (x, y) in [
                        (x.positions(), y.positions()),
                        (x.normals(), y.normals()),
                        (x.tangents(), y.tangents()),
                    ] {
                        if let (Some(x), Some(y)) = (x, y) {
                            self.numbers((&x, given), (&y, written), || what("a morph target"));
                        }
                    }
                }
            }
        }
    }

    fn skins(&mut self, given: &Scene, written: &Scene) {
        self.expect(written.document.skins().len() >= given.document.skins().len(), || {
            "skins are missing".into()
        });
        for (a, b) in given.document.skins().zip(written.document.skins()) {
            let i = a.index();
            let joints = |s: &gltf::Skin| {
                (s.joints().map(|j| j.index()).collect::<Vec<_>>(), s.skeleton().map(|n| n.index()))
            };
            self.expect(joints(&a) == joints(&b), || format!("skin {i}: its joints differ"));
            match (a.inverse_bind_matrices(), b.inverse_bind_matrices()) {
                (Some(x), Some(y)) => self.numbers((&x, given), (&y, written), || format!("skin {i}")),
                (None, None) => {}
                _ => self.0.push(format!("skin {i}: matrices missing or new")),
            }
        }
    }

    fn animations(&mut self, given: &Scene, written: &Scene) {
        let count = |s: &Scene| s.document.animations().len();
        self.expect(count(written) == count(given) + 1, || {
            format!("{} animations became {}", count(given), count(written))
        });
        for (a, b) in given.document.animations().zip(written.document.animations()) {
            let i = a.index();
            self.expect(a.name() == b.name(), || {
                format!("animation {i}: {:?} became {:?}", a.name(), b.name())
            });
            self.expect(a.channels().count() == b.channels().count(), || {
                format!("animation {i}: channels are missing")
            });
            for (k, (c, d)) in a.channels().zip(b.channels()).enumerate() {
                let aims = |c: &gltf::animation::Channel| {
                    (
                        c.target().node().index(),
                        format!("{:?} {:?}", c.target().property(), c.sampler().interpolation()),
                    )
                };
                let what = || format!("animation {i} channel {k}");
                self.expect(aims(&c) == aims(&d), || {
                    format!("{}: {:?} became {:?}", what(), aims(&c), aims(&d))
                });
                self.numbers((&c.sampler().input(), given), (&d.sampler().input(), written), what);
                self.numbers((&c.sampler().output(), given), (&d.sampler().output(), written), what);
            }
        }
    }

    fn images(&mut self, given: &Scene, written: &Scene) {
        self.expect(written.document.images().len() >= given.document.images().len(), || {
            "images are missing".into()
        });
        for (a, b) in given.document.images().zip(written.document.images()) {
            let same = match (a.source(), b.source()) {
                (image::Source::View { view: v, .. }, image::Source::View { view: w, .. }) => {
                    matches!((accessor::view_bytes(&v, &given.buffers), accessor::view_bytes(&w, &written.buffers)), (Ok(x), Ok(y)) if x == y)
                }
                (image::Source::Uri { uri: x, .. }, image::Source::Uri { uri: y, .. }) => x == y,
                // An address may have become bytes inside the file.
                (image::Source::Uri { uri, .. }, image::Source::View { view, .. }) => {
                    let inside = uri.split_once("base64,").and_then(|(_, text)| base64(text));
                    matches!((inside, accessor::view_bytes(&view, &written.buffers)), (Some(x), Ok(y)) if x == y)
                }
                _ => false,
            };
            self.expect(same, || format!("image {}: differs", a.index()));
        }
    }

    /// Parts that are words and numbers of the document itself.
    fn json(&mut self, given: &Scene, written: &Scene) {
        let (a, b) = (given.document.as_json(), written.document.as_json());
        let mut list = |what: &str,
                        x: serde_json::Result<serde_json::Value>,
                        y: serde_json::Result<serde_json::Value>| {
            let (Ok(serde_json::Value::Array(x)), Ok(serde_json::Value::Array(y))) = (x, y) else {
                return self.0.push(format!("{what}: unreadable"));
            };
            // More may stand behind: the ground's own material.
            if !y.starts_with(&x) {
                self.0.push(format!("{what} differ"));
            }
        };
        let value = serde_json::to_value::<&Vec<_>>;
        list("materials", value(&a.materials), value(&b.materials));
        list("textures", serde_json::to_value(&a.textures), serde_json::to_value(&b.textures));
        list("samplers", serde_json::to_value(&a.samplers), serde_json::to_value(&b.samplers));
        list("cameras", serde_json::to_value(&a.cameras), serde_json::to_value(&b.cameras));
        let named = |e: &[String], f: &[String]| e.iter().all(|x| f.contains(x));
        self.expect(named(&a.extensions_used, &b.extensions_used), || "extensionsUsed differ".into());
        self.expect(named(&a.extensions_required, &b.extensions_required), || {
            "extensionsRequired differ".into()
        });
    }
}

/// Bytes of a base64 text (RFC 4648), nothing where it is none.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0_u32, 0);
    for c in text.trim_end_matches('=').bytes() {
        let six = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_known_words() {
        assert_eq!(base64("Zm9vYmFy").as_deref(), Some(&b"foobar"[..]));
        assert_eq!(base64("Zm9vYg==").as_deref(), Some(&b"foob"[..]));
        assert_eq!(base64("Zm9v*g=="), None);
    }
}
