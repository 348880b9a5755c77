// Piecewise linear-quadratic functions of one variable: the algebra of convex_tsvm.losses.PLQ, for pages.
// A function is {breaks, pieces, lower, upper}: pieces [a, b, c] of a t² + b t + c, one more than breaks.
"use strict";
const PLQ = (() => {
  const ZERO = 1e-10, SLIVER = 1e-12; // as in Python
  const value = ([a, b, c], t) => (a === 0 ? (b ? b * t + c : c) : (a * t + b) * t + c);
  const slope = ([a, b], t) => (a === 0 ? b : 2 * a * t + b);
  const between = (l, r) =>
    isFinite(l) && isFinite(r) ? (l + r) / 2 : isFinite(l) ? l + 1 : isFinite(r) ? r - 1 : 0;
  const rightOf = (breaks, t) => breaks.filter(x => x <= t).length;
  const leftOf = (breaks, t) => breaks.filter(x => x < t).length;

  function make(breaks, pieces, lower = -Infinity, upper = Infinity) {
    if (lower === upper) pieces = [[0, 0, value(pieces[0], lower)]], breaks = [];
    const keep = breaks.map((_, k) => k).filter(k => {
      const apart = Math.max(...pieces[k].map((x, j) => Math.abs(pieces[k + 1][j] - x)));
      const size = Math.max(...pieces[k].map(Math.abs), ...pieces[k + 1].map(Math.abs));
      return apart > 1e-14 * (1 + size);
    });
    return { breaks: keep.map(k => breaks[k]), pieces: [pieces[0], ...keep.map(k => pieces[k + 1])], lower, upper };
  }
  const spans = f => {
    const edges = [f.lower, ...f.breaks, f.upper];
    return f.pieces.map((piece, k) => [piece, edges[k], edges[k + 1]]);
  };
  const at = (f, t) => (t < f.lower || t > f.upper ? Infinity : value(f.pieces[rightOf(f.breaks, t)], t));
  const jumps = f => f.breaks.map((t, k) => {
    const [[a, b], [c, d]] = [f.pieces[k], f.pieces[k + 1]];
    const size = 1 + Math.abs(2 * a * t) + Math.abs(b) + Math.abs(2 * c * t) + Math.abs(d);
    const jump = slope(f.pieces[k + 1], t) - slope(f.pieces[k], t);
    return Math.abs(jump) <= ZERO * size ? 0 : jump;
  });
  const isConvex = f => f.pieces.every(([a]) => a >= 0) && jumps(f).every(x => x >= 0);

  function minimizers(f) {
    const found = [];
    for (const [[a, b, c], left, right] of spans(f)) {
      for (const [end, outward] of [[left, -1], [right, 1]]) {
        if (isFinite(end)) found.push([value([a, b, c], end), end]);
        else if (a < 0 || (a === 0 && b * outward < 0)) return [-Infinity, NaN, NaN];
        else if (a === 0 && b === 0) found.push([c, end]);
      }
      const place = -b / (2 * a);
      if (a > 0 && left < place && place < right) found.push([c - (b * b) / (4 * a), place]);
    }
    const least = Math.min(...found.map(x => x[0]));
    const places = found.filter(x => x[0] <= least + ZERO * (1 + Math.abs(least))).map(x => x[1]);
    return [least, Math.min(...places), Math.max(...places)];
  }

  function combine(functions, rule) {
    const lower = Math.max(...functions.map(f => f.lower)), upper = Math.min(...functions.map(f => f.upper));
    const all = [...new Set(functions.flatMap(f => f.breaks))].sort((x, y) => x - y);
    const edges = [lower, ...all.filter(x => lower < x && x < upper), upper];
    const breaks = [], pieces = [];
    for (let k = 0; k + 1 < edges.length; k++) {
      const middle = between(edges[k], edges[k + 1]);
      const rows = functions.map(f => f.pieces[rightOf(f.breaks, middle)]);
      const [inner, parts] = rule(rows, edges[k], edges[k + 1]);
      if (pieces.length) breaks.push(edges[k]);
      breaks.push(...inner);
      pieces.push(...parts);
    }
    return make(breaks, pieces, lower, upper);
  }
  const sum = (f, g) => combine([f, g], rows => [[], [rows[0].map((x, j) => x + rows[1][j])]]);
  const negative = f => make(f.breaks, f.pieces.map(p => p.map(x => -x)), f.lower, f.upper);

  function roots(a, b, c) {
    if (a === 0) return b ? [-c / b] : [];
    const discriminant = b * b - 4 * a * c;
    if (discriminant < 0) return [];
    const q = -0.5 * (b + (b < 0 || Object.is(b, -0) ? -1 : 1) * Math.sqrt(discriminant));
    return [...new Set(q ? [q / a, c / q] : [0, -b / a])].sort((x, y) => x - y);
  }
  const maximum = (f, g) => combine([f, g], (rows, left, right) => {
    const cuts = roots(...rows[0].map((x, j) => x - rows[1][j])).filter(t => left < t && t < right);
    const ends = [left, ...cuts, right];
    const parts = ends.slice(1).map((end, k) => {
      const t = between(ends[k], end);
      return value(rows[1], t) > value(rows[0], t) ? rows[1] : rows[0];
    });
    return [cuts, parts];
  });

  // Along the graph of the subdifferential a kink becomes a line, a curved piece a curved one, a line a kink.
  function conjugate(f) {
    if (f.lower === f.upper) return make([], [[0, f.lower, -at(f, f.lower)]]);
    let found = [], c = 0, b = 0;
    const steps = [...jumps(f), 0];
    const kink = (t, start, stop) => found.push([start, stop, [0, t, -at(f, t)]]);
    spans(f).forEach(([piece, left, right], k) => {
      const a = piece[0];
      [, b, c] = piece;
      const start = a > 0 ? 2 * a * left + b : b, stop = a > 0 ? 2 * a * right + b : b;
      if (k === 0 && isFinite(f.lower)) kink(f.lower, -Infinity, start);
      if (a > 0) found.push([start, stop, [1 / (4 * a), -b / (2 * a), (b * b) / (4 * a) - c]]);
      if (k === f.breaks.length && isFinite(f.upper)) kink(f.upper, stop, Infinity);
      else if (steps[k] > 0) kink(right, stop, stop + steps[k]);
    });
    found = found.filter(([start, stop]) => start < stop);
    if (!found.length) return make([], [[0, 0, -c]], b, b);
    return make(found.slice(1).map(x => x[0]), found.map(x => x[2]), found[0][0], found[found.length - 1][1]);
  }

  function within(f, lower, upper) {
    lower = Math.max(lower, f.lower);
    upper = Math.min(upper, f.upper);
    const first = rightOf(f.breaks, lower), last = leftOf(f.breaks, upper);
    const inside = f.breaks.filter(x => x > lower && x < upper);
    return make(inside, f.pieces.slice(first, Math.max(first, last) + 1), lower, upper);
  }

  // The conjugate of the largest of the conjugates of the pieces, of which a concave one counts as its chord.
  function envelope(f, lower = -Infinity, upper = Infinity) {
    const part = within(f, lower, upper);
    if (isConvex(part)) return part;
    const conjugates = spans(part).map(([own, left, right]) => {
      const finite = isFinite(left) && isFinite(right);
      const steepest = finite ? Math.abs(own[1]) + 2 * Math.abs(own[0]) * Math.max(Math.abs(left), Math.abs(right)) : Infinity;
      let piece = own;
      if (own[0] < 0 || (finite && own[0] * (right - left) <= SLIVER * (1 + steepest))) {
        if (!finite) return null;
        const rise = (value(own, right) - value(own, left)) / (right - left);
        piece = [0, rise, value(own, left) - rise * left];
      }
      return conjugate(make([], [piece], left, right));
    });
    if (conjugates.includes(null)) return null;
    if (Math.max(...conjugates.map(g => g.lower)) > Math.min(...conjugates.map(g => g.upper))) return null;
    const found = conjugate(conjugates.reduce(maximum));
    return within(make(found.breaks, found.pieces), part.lower, part.upper);
  }

  // Downward kinks and negative curvature are the concave part, which is flat and 0 where f is smallest.
  function split(f) {
    const bend = f.pieces.map(([a]) => Math.min(a, 0)), falls = jumps(f).map(x => Math.min(x, 0));
    if (!bend.some(x => x) && !falls.some(x => x)) return [f, make([], [[0, 0, 0]])];
    const linear = [0];
    f.breaks.forEach((t, k) => linear.push(linear[k] + falls[k] + 2 * (bend[k] - bend[k + 1]) * t));
    const [, first, last] = minimizers(f);
    const middle = isNaN(first) || (first === -Infinity && last === Infinity) ? 0 : (first + last) / 2;
    const left = leftOf(f.breaks, middle), right = rightOf(f.breaks, middle);
    const level = isFinite(middle)
      ? (2 * bend[left] * middle + linear[left] + 2 * bend[right] * middle + linear[right]) / 2
      : linear[right];
    const own = linear.map(x => x - level), constants = [0];
    f.breaks.forEach((t, k) =>
      constants.push(constants[k] + (bend[k] - bend[k + 1]) * t * t + (own[k] - own[k + 1]) * t));
    const raised = isFinite(middle) ? value([bend[right], own[right], constants[right]], middle) : constants[right];
    const concave = make(f.breaks, bend.map((a, k) => [a, own[k], constants[k] - raised]));
    return [sum(f, negative(concave)), concave];
  }

  // The minimizer of f(t) + (t - v)² / (2 step) of a convex function.
  function prox(f, v, step) {
    let place = 0;
    f.breaks.forEach((t, k) => {
      const first = t + step * slope(f.pieces[k], t), last = Math.max(first, t + step * slope(f.pieces[k + 1], t));
      place += (v >= first) + (v >= last);
    });
    const k = Math.floor(place / 2), [a, b] = f.pieces[k];
    const moved = place % 2 ? f.breaks[k] : (v - step * b) / (1 + 2 * step * a);
    return Math.min(Math.max(moved, f.lower), f.upper);
  }
  return { make, at, isConvex, conjugate, envelope, split, prox, minimizers, spans };
})();
if (typeof module !== "undefined") module.exports = PLQ;
