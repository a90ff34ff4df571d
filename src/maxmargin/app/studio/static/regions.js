// Regions of linear scores, cut out of the window half-plane by half-plane.

// The part of a polygon where a·x + b·y + c ≥ 0.
function cut(polygon, [a, b, c]) {
  const kept = [];
  polygon.forEach((p, i) => {
    const q = polygon[(i + 1) % polygon.length];
    const s = a * p[0] + b * p[1] + c, t = a * q[0] + b * q[1] + c;
    if (s >= 0) kept.push(p);
    if (s * t < 0) {
      const share = s / (s - t);
      kept.push([p[0] + share * (q[0] - p[0]), p[1] + share * (q[1] - p[1])]);
    }
  });
  return kept;
}

// One polygon for each class: where its score w·x + b is the highest.  Two classes have one
// score between them, positive for the second.  The window is widened a little, so that only
// edges between classes are seen when the polygons are stroked.
export function regions(W, b, [x0, x1, y0, y1]) {
  const [dx, dy] = [(x1 - x0) * 0.02, (y1 - y0) * 0.02];
  const all = [[x0 - dx, y0 - dy], [x1 + dx, y0 - dy], [x1 + dx, y1 + dy], [x0 - dx, y1 + dy]];
  const scores = W.length === 1 ? [[0, 0, 0], [...W[0], b[0]]] : W.map((w, c) => [...w, b[c]]);
  return scores.map((own, c) => scores.reduce((polygon, other, d) => (
    c === d ? polygon : cut(polygon, own.map((value, i) => value - other[i]))), all));
}
