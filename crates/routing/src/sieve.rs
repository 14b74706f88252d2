//! Throws disconnected deployments away before anything is built from them.
//!
//! Nearly all small deployments are disconnected, so this is where a search spends its time. The sieve works on single
//! precision with a margin, therefore it never throws a connected deployment away; what passes is judged exactly.

/// The greatest deployment that it takes: one bit of a word per node.
pub(crate) const GREATEST: usize = 64;

/// Lanes that are compared at once.
const LANES: usize = 4;
/// Nodes whose bits make a half word.
const HALF: usize = 32;
/// Groups of lanes of a half word.
const GROUPS: usize = HALF / LANES;

/// The sieve for one size of deployment.
#[derive(Clone, Debug)]
pub(crate) struct Sieve {
    nodes: usize,
    x: [f32; GREATEST],
    y: [f32; GREATEST],
    /// Metres per unit of the 24 bits of a coordinate that single precision keeps.
    scale: [f32; 2],
    /// Square of the range, widened by more than the error of single precision.
    range_squared: f32,
}

impl Sieve {
    /// For so many nodes in a rectangle of so many metres; `None` when there are too many.
    pub(crate) fn new(nodes: usize, size: [f64; 2], range: f64) -> Option<Self> {
        let unit = 1.0 / f64::from(1 << 24);
        // A coordinate is truncated and rounded by less than 2^-23 of the side. So a distance is wrong by less than
        // 2^-21 of the longer side, and its square is rounded three times.
        let widened = (range + size[0].max(size[1]) / f64::from(1 << 20)) * (1.0 + 1.0 / f64::from(1 << 20));
        (nodes <= GREATEST && nodes > 0).then(|| Self {
            nodes,
            // Lanes without a node are nowhere near.
            x: [f32::INFINITY; GREATEST],
            y: [f32::INFINITY; GREATEST],
            scale: size.map(|side| (side * unit) as f32),
            range_squared: (widened * widened) as f32,
        })
    }

    /// Whether the deployment that these words stand for may be connected: first all x, then all y.
    pub(crate) fn passes(&mut self, words: &[u32]) -> bool {
        let (xs, ys) = words.split_at(self.nodes);
        let metres = |word: u32, scale: f32| (word >> 8).cast_signed() as f32 * scale;
        for (to, &word) in self.x.iter_mut().zip(xs) {
            *to = metres(word, self.scale[0]);
        }
        for (to, &word) in self.y.iter_mut().zip(ys) {
            *to = metres(word, self.scale[1]);
        }
        self.spans()
    }

    /// Whether all nodes can be reached from the first.
    fn spans(&self) -> bool {
        let all = u64::MAX >> (GREATEST - self.nodes);
        let (mut reached, mut ahead) = (1u64, 1u64);
        while ahead != 0 {
            let node = ahead.trailing_zeros() as usize;
            ahead &= ahead - 1;
            let new = self.near(node) & !reached;
            reached |= new;
            ahead |= new;
            if reached == all {
                return true;
            }
        }
        reached == all
    }

    /// The nodes in range of one.
    fn near(&self, node: usize) -> u64 {
        let low = self.half::<0>(node, self.nodes.min(HALF));
        if self.nodes <= HALF {
            return u64::from(low);
        }
        u64::from(low) | u64::from(self.half::<HALF>(node, self.nodes - HALF)) << HALF
    }

    /// The nodes FIRST.. in range of one, a bit each.
    fn half<const FIRST: usize>(&self, node: usize, nodes: usize) -> u32 {
        let (x, y) = (self.x[node], self.y[node]);
        let (xs, _) = self.x[FIRST..FIRST + HALF].as_chunks::<LANES>();
        let (ys, _) = self.y[FIRST..FIRST + HALF].as_chunks::<LANES>();
        let mut found = [0u32; LANES];
        for group in 0..nodes.div_ceil(LANES).min(GROUPS) {
            let (xs, ys, bits) = (&xs[group], &ys[group], &BITS[group]);
            for lane in 0..LANES {
                let (dx, dy) = (xs[lane] - x, ys[lane] - y);
                // Negative in range: its sign, as a mask, is what compilers turn into vector instructions.
                let beyond = dx * dx + dy * dy - self.range_squared;
                found[lane] |= (beyond.to_bits().cast_signed() >> 31).cast_unsigned() & bits[lane];
            }
        }
        found.iter().fold(0, |all, bits| all | bits)
    }
}

/// The bit of each lane of each group.
const BITS: [[u32; LANES]; GROUPS] = {
    let mut bits = [[0; LANES]; GROUPS];
    let mut node = 0;
    while node < HALF {
        bits[node / LANES][node % LANES] = 1 << node;
        node += 1;
    }
    bits
};
