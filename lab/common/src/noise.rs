//! Random numbers from a fixed seed, without a library.

use sinew::{
    glam::{Quat, Vec3},
    math,
};

/// A sequence that its seed determines.
#[derive(Clone)]
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x2545_F491_4F6C_DD1D | 1)
    }

    /// In [0, 1).
    pub fn unit(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / (1u32 << 24) as f32
    }

    pub fn between(&mut self, from: f32, to: f32) -> f32 {
        from + (to - from) * self.unit()
    }

    /// 0 to `n - 1`.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.unit() * n as f32) as usize).min(n - 1)
    }

    /// Each component in [-1, 1).
    pub fn vector(&mut self) -> Vec3 {
        Vec3::new(self.between(-1.0, 1.0), self.between(-1.0, 1.0), self.between(-1.0, 1.0))
    }

    /// Any direction, each as likely.
    pub fn direction(&mut self) -> Vec3 {
        loop {
            let v = self.vector();
            if v.length() > 0.05 && v.length() <= 1.0 {
                return v.normalize();
            }
        }
    }

    /// Some rotation; those about the diagonals of the axes are likelier.
    pub fn rotation(&mut self) -> Quat {
        let (v, w) = (self.vector(), self.between(-1.0, 1.0));
        math::normalize(Quat::from_xyzw(v.x, v.y, v.z, w))
    }

    /// Any rotation, each as likely: four numbers in a ball, at unit length (Marsaglia).
    pub fn any_rotation(&mut self) -> Quat {
        loop {
            let q = [0; 4].map(|_| self.between(-1.0, 1.0));
            let l: f32 = q.iter().map(|x| x * x).sum();
            if l > 0.01 && l <= 1.0 {
                return math::normalize(Quat::from_xyzw(q[0], q[1], q[2], q[3]));
            }
        }
    }
}
