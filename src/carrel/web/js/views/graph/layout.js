// Where concepts stand: near those they are related to, none over another, and in the same place every time.

const DISTANCE = 84;      // between two that are related
const CHARGE = 520;       // how strongly all keep apart
const FAR = 800;          // beyond which nothing is felt of each other: else large maps grow empty within
const GRAVITY = 0.055;    // how strongly the middle draws
const ROUNDS = 300;
const WORK = 1.2e7;        // pairs times rounds: of very many no more than what a reader waits for
const GOLDEN = Math.PI * (3 - Math.sqrt(5));
const FIRM = 0.06;        // how far what stood already gives way to what is new

/** Centres `[x, y]` for boxes `{ width, height }` of which these pairs of numbers are joined.
 *
 * What has a place in `before` hardly moves. `aspect` is how much wider than high the whole should be.
 */
export function arranged(boxes, pairs, { before = [], aspect = 1.3 } = {}) {
  const near = neighbours(boxes.length, pairs);
  const spots = started(near, before);
  settle(spots, pairs, near, before, aspect);
  separate(spots, boxes, before);
  return boxes.map((_, index) => [spots.x[index], spots.y[index]]);
}

function neighbours(count, pairs) {
  const near = Array.from({ length: count }, () => []);
  for (const [one, other] of pairs) {
    near[one].push(other);
    near[other].push(one);
  }
  return near;
}

/** Each beside what it is joined to; what is joined to nothing that stands, on a spiral from the middle. */
function started(near, before) {
  const count = near.length;
  const spots = { x: new Float64Array(count), y: new Float64Array(count) };
  const standing = near.map((_, index) => Boolean(before[index]));
  const queue = [];
  let reach = 0;
  standing.forEach((stands, index) => {
    if (!stands) return;
    [spots.x[index], spots.y[index]] = before[index];
    reach = Math.max(reach, Math.hypot(...before[index]) + DISTANCE);
    queue.push(index);
  });
  for (let index = 0, islands = 0; index < count; index += 1) {
    spread(queue, near, spots, standing);
    if (standing[index]) continue;
    const radius = reach + DISTANCE * 1.4 * Math.sqrt(islands);
    spots.x[index] = radius * Math.cos(islands * GOLDEN);
    spots.y[index] = radius * Math.sin(islands * GOLDEN);
    standing[index] = true;
    queue.push(index);
    islands += 1;
  }
  spread(queue, near, spots, standing);
  return spots;
}

/** From each of the queue outwards, away from the middle. */
function spread(queue, near, spots, standing) {
  while (queue.length) {
    const from = queue.shift();
    const fresh = near[from].filter((other) => !standing[other]);
    const isMiddle = Math.hypot(spots.x[from], spots.y[from]) < 1;
    const step = isMiddle ? (2 * Math.PI) / fresh.length : Math.min(0.5, (1.3 * Math.PI) / fresh.length);
    const first = isMiddle ? 0.4 : Math.atan2(spots.y[from], spots.x[from]) - (step * (fresh.length - 1)) / 2;
    fresh.forEach((other, order) => {
      const radius = DISTANCE * (1 + 0.35 * (order % 3));
      spots.x[other] = spots.x[from] + radius * Math.cos(first + step * order);
      spots.y[other] = spots.y[from] + radius * Math.sin(first + step * order);
      standing[other] = true;
      queue.push(other);
    });
  }
}

/** All keep apart, the joined draw each other, the middle draws a little; less and less. */
function settle(spots, pairs, near, before, aspect) {
  const count = near.length;
  const speed = { x: new Float64Array(count), y: new Float64Array(count) };
  const charges = near.map((others) => CHARGE * (1 + 0.25 * Math.sqrt(others.length)));
  const rounds = roundsFor(count, ROUNDS, WORK);
  for (let round = 0; round < rounds; round += 1) {
    const heat = (1 - round / rounds) ** 1.5;
    repel(spots, speed, charges, heat);
    attract(spots, speed, pairs, near, heat);
    for (let index = 0; index < count; index += 1) {
      speed.x[index] = (speed.x[index] - (spots.x[index] * GRAVITY * heat) / aspect) * 0.6;
      speed.y[index] = (speed.y[index] - spots.y[index] * GRAVITY * heat * aspect) * 0.6;
      if (before[index]) continue;
      spots.x[index] += speed.x[index];
      spots.y[index] += speed.y[index];
    }
  }
}

const roundsFor = (count, most, work) => Math.max(40, Math.min(most, Math.round(work / (count * count + 1))));

function repel(spots, speed, charges, heat) {
  for (let one = 0; one < charges.length; one += 1) {
    for (let other = one + 1; other < charges.length; other += 1) {
      // Two in the very same place go apart in a way that depends on nothing but their numbers.
      const across = spots.x[one] - spots.x[other] || 0.1 * Math.cos(one + other);
      const down = spots.y[one] - spots.y[other] || 0.1 * Math.sin(one + other);
      const apart = across * across + down * down;
      if (apart > FAR * FAR) continue;
      const push = heat / Math.max(400, apart);
      speed.x[one] += across * push * charges[other];
      speed.y[one] += down * push * charges[other];
      speed.x[other] -= across * push * charges[one];
      speed.y[other] -= down * push * charges[one];
    }
  }
}

function attract(spots, speed, pairs, near, heat) {
  for (const [one, other] of pairs) {
    const across = spots.x[other] + speed.x[other] - spots.x[one] - speed.x[one];
    const down = spots.y[other] + speed.y[other] - spots.y[one] - speed.y[one];
    const length = Math.hypot(across, down) || 1;
    const [few, many] = [near[one].length, near[other].length];
    const wanted = DISTANCE * (1 + 0.12 * Math.sqrt(Math.max(few, many) - 1));
    const pull = ((length - wanted) / length) * heat / Math.min(few, many);
    const share = few / (few + many);
    speed.x[other] -= across * pull * share;
    speed.y[other] -= down * pull * share;
    speed.x[one] += across * pull * (1 - share);
    speed.y[one] += down * pull * (1 - share);
  }
}

/** Push boxes that overlap apart, each pair along the shorter way, until none does. */
function separate(spots, boxes, before) {
  const gives = boxes.map((_, index) => (before[index] ? FIRM : 1));
  for (let round = roundsFor(boxes.length, 150, WORK / 2); round > 0; round -= 1) {
    let overlaps = false;
    for (let one = 0; one < boxes.length; one += 1) {
      for (let other = one + 1; other < boxes.length; other += 1) {
        overlaps = apart(spots, boxes, gives, one, other) || overlaps;
      }
    }
    if (!overlaps) return;
  }
}

function apart(spots, boxes, gives, one, other) {
  const across = spots.x[other] - spots.x[one];
  const down = spots.y[other] - spots.y[one];
  const overAcross = (boxes[one].width + boxes[other].width) / 2 - Math.abs(across);
  const overDown = (boxes[one].height + boxes[other].height) / 2 - Math.abs(down);
  if (overAcross <= 0 || overDown <= 0) return false;
  const share = gives[one] / (gives[one] + gives[other]);
  const axis = overDown <= overAcross ? "y" : "x";
  const by = 0.5 * (axis === "y" ? overDown * (Math.sign(down) || 1) : overAcross * (Math.sign(across) || 1));
  // Between two that stood already, only a little.
  const firmly = Math.max(gives[one], gives[other]);
  spots[axis][one] -= by * share * firmly;
  spots[axis][other] += by * (1 - share) * firmly;
  return true;
}
