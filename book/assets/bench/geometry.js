// Where vectors of many numbers lie, seen in two directions.

const ROUNDS = 60;

/**
 * The two directions, at right angles, in which these rows (N, D), centred, differ most; by orthogonal
 * iteration from the directions `before`, so that a picture turns no more than its rows do.
 *
 * Returns the directions, each row's place on them, and the share of the variance that they hold.
 * Source: Golub & Van Loan (2013), section 8.2.4.
 */
export function projected(rows, before = null) {
  const D = rows[0].length;
  const mean = Array.from({ length: D }, (_, d) => rows.reduce((total, row) => total + row[d], 0) / rows.length);
  const centred = rows.map((row) => mean.map((each, d) => row[d] - each));
  const along = (row, axis) => row.reduce((total, each, d) => total + each * axis[d], 0);
  let axes = before ?? [0, 1].map((i) => mean.map((_, d) => Math.cos((i + 1) * (d + 1))));
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = [];
    for (const axis of axes) {
      const next = new Array(D).fill(0);
      for (const row of centred) {
        const share = along(row, axis);
        for (let d = 0; d < D; d += 1) next[d] += share * row[d];
      }
      for (const other of found) {
        const share = along(next, other);
        for (let d = 0; d < D; d += 1) next[d] -= share * other[d];
      }
      const length = Math.hypot(...next) || 1;
      found.push(next.map((each) => each / length));
    }
    axes = found;
  }
  const points = centred.map((row) => axes.map((axis) => along(row, axis)));
  const squares = (all) => all.flat().reduce((total, each) => total + each * each, 0);
  return { axes, points, share: squares(points) / (squares(centred) || 1) };
}
