//! Restarts of stalled solvers, deterministic for a chain.

use super::{Chain2d, wrap};

impl Chain2d {
    /// Moves the joints to the `n`-th restart: preferred angles, a bend of the whole chain, then pseudorandom angles.
    pub(super) fn restart(&mut self, n: u32) {
        match n {
            0 if self.bones.iter().any(|b| b.preferred.is_some()) => {
                for i in 0..self.bones.len() {
                    if let Some(preferred) = self.bones[i].preferred {
                        self.put(i, preferred);
                    }
                }
            }
            0 | 1 => self.bend(),
            _ => self.scatter(n),
        }
    }

    /// Bends the chain from its current state by one radian in all, each joint to whichever side its limits allow.
    fn bend(&mut self) {
        let each = 1.0 / self.bones.len().max(2) as f32;
        for i in 0..self.bones.len() {
            let (from, to) = self.work.spans[i];
            let here = wrap(self.bones[i].angle);
            let bent = if here + each <= to { here + each } else { (here - each).clamp(from, to) };
            self.bones[i].angle = wrap(bent);
        }
    }

    fn scatter(&mut self, seed: u32) {
        let mut x = 0x9E37_79B9u32.wrapping_mul(seed + 1);
        for i in 0..self.bones.len() {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            let part = (x >> 8) as f32 / (1u32 << 24) as f32;
            let (from, to) = self.work.spans[i];
            let (from, to) = (from.max(-3.1), to.min(3.1));
            self.put(i, from + (to - from) * part);
        }
    }
}
