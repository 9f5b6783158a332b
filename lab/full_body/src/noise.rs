//! Random numbers from fixed seeds.

use sinew::glam::Vec3;

/// Uniform in \[0, 1), by a 64-bit linear congruence (Knuth's multiplier).
pub struct Noise(pub u64);

impl Noise {
    pub fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f32 / (1u32 << 24) as f32
    }

    pub fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.next()
    }

    pub fn direction(&mut self) -> Vec3 {
        loop {
            let v = Vec3::new(self.between(-1.0, 1.0), self.between(-1.0, 1.0), self.between(-1.0, 1.0));
            if v.length() > 0.05 && v.length() <= 1.0 {
                return v.normalize();
            }
        }
    }
}
