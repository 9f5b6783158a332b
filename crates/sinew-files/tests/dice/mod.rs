//! Where files are damaged at random.

/// Numbers that repeat from run to run (Marsaglia's xorshift).
pub struct Dice(pub u64);

impl Dice {
    /// From 0 to below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}
