/** Bodies within the limits that cost the exporter as much as they can; `turn` counts the polls, `who` the appliances. */
export type WorstAnswer = (turn: number, who: number) => Buffer;

const LIST_BYTES = 256 * 1024;
const TEST_BYTES = 64 * 1024;
const INTERFACES = 1024;

/** Texts of so many bytes fill a list of all fields to the limit. */
const TEXT_BYTES = 74;

/** A text that ends in this number, of `bytes` bytes. */
function tall(nth: number | string, bytes = TEXT_BYTES): string {
  return String(nth).padStart(bytes, "x");
}

/** As many interfaces as the limits allow, up to 1,024. */
function listOf(member: (nth: number) => string): Buffer {
  const members: string[] = [];
  let bytes = 2;
  for (let nth = 0; nth < INTERFACES; nth += 1) {
    const text = member(nth);
    bytes += Buffer.byteLength(text, "latin1") + 1;
    if (bytes > LIST_BYTES) break;
    members.push(text);
  }
  return Buffer.from(`{${members.join(",")}}`, "latin1");
}

interface Fields {
  readonly name: string;
  readonly vip: string;
  readonly state: string;
}

/** Written raw, so that line breaks and bytes that are no UTF-8 stay. */
function interfaceOf(nth: number, { name, vip, state }: Fields, more = ""): string {
  return `"${name}":{"vhid":"${nth % 256}","vip":"${vip}","state_current":"${state}"${more}}`;
}

const HEALTHY = ',"priority":204,"advskew":50';

function flips(turn: number, who: number): string {
  return (turn + who) % 2 === 0 ? "MASTER" : "BACKUP";
}

/** Bodies of the list of VRRP interfaces, by what they are made of. */
export const WORST_LISTS: Readonly<Record<string, WorstAnswer>> = {
  "states that alternate, the same groups on each appliance": (turn, who) =>
    listOf((nth) => interfaceOf(nth, { name: tall(nth), vip: tall(nth), state: flips(turn, who) }, HEALTHY)),
  "states that alternate, other groups on each appliance": (turn, who) =>
    listOf((nth) =>
      interfaceOf(nth, { name: tall(nth), vip: tall(`${who}-${nth}`), state: flips(turn, who) }, HEALTHY),
    ),
  "unknown states that alternate": (turn, who) =>
    listOf((nth) =>
      interfaceOf(nth, { name: tall(nth, 50), vip: tall(`${who}-${nth}`, 50), state: tall(turn, 80) }),
    ),
  "other names and addresses each time": (turn, who) =>
    listOf((nth) => {
      const text = tall(`${turn}-${who}-${nth}`);
      return interfaceOf(nth, { name: text, vip: text, state: flips(turn, who) }, HEALTHY);
    }),
  "one group": (turn, who) =>
    listOf((nth) =>
      interfaceOf(0, { name: tall(nth, 148), vip: "192.0.2.1", state: flips(turn, who) }, HEALTHY),
    ),
  "bytes that are no UTF-8 in every text": (turn, who) =>
    listOf((nth) => {
      const text = `${tall(nth, 20)}\xff`;
      const more = `,"if":"${text}","netmask":"${text}","carppeer":"${text}","type":"${text}"`;
      return interfaceOf(nth, { name: text, vip: `${who}${text}`, state: `${turn}\xff` }, more);
    }),
  "line breaks, and one character that widens every text": (turn, who) =>
    listOf((nth) => {
      const breaks = "\n".repeat(54);
      const text = `\xe6\xbc\xa2${breaks}${nth}`;
      return interfaceOf(nth, { name: text, vip: `${who}${text}`, state: `${turn}\xe6\xbc\xa2` }, HEALTHY);
    }),
  "many repeated keys below a long one": () => {
    const [outer, repeat] = ["x".repeat(20 * 1024), '{"":0,"":0},'];
    const count = Math.floor((LIST_BYTES - outer.length - 10) / repeat.length);
    return Buffer.from(`{"${outer}":[${repeat.repeat(count)}0]}`);
  },
  "every deviation at once": (turn, who) =>
    listOf((nth) => {
      const repeated = Array.from({ length: 12 }, (_, key) => `,"${key}":1,"${key}":1`).join("");
      return interfaceOf(
        nth,
        { name: `${nth}`, vip: `${who}-${nth}`, state: `${turn}` },
        `,"alias":1${repeated}`,
      );
    }),
  "deep arrays": () =>
    Buffer.from(`{"a":[[[[[[]]]]]]${',"b":[[[[[[]]]]]]'.repeat(62)},"c":[${"[[[[[]]]]],".repeat(22_000)}1]}`),
};

function test(text: string): Buffer {
  return Buffer.from(`"${text.slice(0, TEST_BYTES - 2)}"`, "latin1");
}

/** Bodies of a website test. */
export const WORST_TESTS: Readonly<Record<string, WorstAnswer>> = {
  markers: (turn) =>
    test(`HTTP CONNECT --- HTTP\nHTTP/1.1 ${200 + (turn % 2)} OK\n${"HTTP CONNECT ---\n".repeat(5000)}`),
  lines: () => test(`HTTP CONNECT --- HTTP\n${"\n".repeat(TEST_BYTES)}`),
};
