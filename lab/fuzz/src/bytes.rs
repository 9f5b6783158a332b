//! Numbers from bytes, for targets that read no text.

use sinew::glam::{Quat, Vec3};

use crate::mutate::FLOATS;

/// Takes bytes one after another; zeros where there are none left.
pub struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Self(data)
    }

    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n.max(1)
    }

    pub fn word(&mut self) -> u32 {
        u32::from_le_bytes([0; 4].map(|_| self.byte()))
    }

    /// In [-1, 1].
    pub fn share(&mut self) -> f32 {
        f32::from(self.byte() as i8) / 128.0
    }

    /// Mostly between -1 and 1, some of any size, some that make trouble; `hostile` of 256 are not ordinary.
    pub fn number(&mut self, hostile: u8) -> f32 {
        if self.byte() >= hostile {
            return self.share();
        }
        match self.below(4) {
            0 => FLOATS[self.below(FLOATS.len())],
            1 => f32::from_bits(self.word()),
            _ => self.share() * 10f32.powi(i32::from(self.byte() as i8) / 4),
        }
    }

    pub fn vector(&mut self, hostile: u8) -> Vec3 {
        Vec3::new(self.number(hostile), self.number(hostile), self.number(hostile))
    }

    /// Mostly of unit length.
    pub fn rotation(&mut self, hostile: u8) -> Quat {
        let q = Quat::from_xyzw(
            self.number(hostile),
            self.number(hostile),
            self.number(hostile),
            self.number(hostile),
        );
        let length = q.length();
        if self.byte() < hostile || !(length > 1e-3 && length < 1e3) { q } else { q.normalize() }
    }
}
