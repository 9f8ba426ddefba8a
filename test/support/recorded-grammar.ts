/** The grammar of what may be in a recorded file, without the program's own tables. */

const NAME = /(?:interface|if|site|host|key|text)-[1-9]\d*/;
const IPV4 = /(?:192\.0\.2|198\.51\.100|203\.0\.113)\.\d{1,3}/;
const IPV6 = /2001:db8:(?::|(?::[\da-f]{1,4}){1,2}|(?::0)*:[\da-f:]{1,14})/;
const WELL_KNOWN = /\*|0\.0\.0\.0|::1?|127\.0\.0\.1|224\.0\.0\.18|ff02::12/;
const NETMASK =
  /(?:(?:0|128|192|224|240|248|252|254|255)\.?){4}|(?:(?:ffff|fff[ec8]|ff[ec8f]0|f[ec8f]00|[ec8f]000|0):?){0,8}:{0,2}/;
const NUMBER = /-1|0|[1-9]\d{0,9}/;
const WORD = /MASTER|BACKUP|INIT|FAULT|http|https|both|out of range/;

const TEXT = anyOf(
  NAME,
  new RegExp(`(?:${anyOf(IPV4, IPV6, WELL_KNOWN).source})(?:/\\d{1,3})?`),
  NETMASK,
  WORD,
);
const KEY =
  /(?:interface|key)-[1-9]\d*|state_current|vhid|vip|priority|advskew|alias|if|netmask|carppeer|type|id|name|status|mode|bind|vhost|proto|port2?|rhost/;

const CAUSE =
  /certificate|expired|handshake|host|no response|refused|reset|resolve|route|self-signed|ssl|timed out|timeout|tls|unreachable/;
const HEADER =
  /(?:connection|content-type|location|retry-after|server|set-cookie|transfer-encoding): text-[1-9]\d*/;
const LINE = anyOf(
  /HTTPS? CONNECT -{49}(?: HTTPS?)?/,
  /HTTP\/1\.1 (?:0|[1-9]\d\d)(?: Connection established)?/,
  new RegExp(`(?:${CAUSE.source})(?: (?:${CAUSE.source}))*`),
  /text-[1-9]\d*/,
);
const ANSWER = new RegExp(`^(?:${LINE.source})(?:[\\n ](?:${LINE.source}|${HEADER.source}))*$`, "i");

function anyOf(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(`(?:${patterns.map(({ source }) => source).join("|")})`);
}

function isAll(pattern: RegExp, text: string): boolean {
  return new RegExp(`^(?:${pattern.source})$`).test(text);
}

/** Whether a recorded body has nothing but booleans, numbers of the API's ranges, words of closed sets and numbered names. */
export function isRecordedBody(body: string): boolean {
  return ["", "<html>", "text", "[[[[[[[[["].includes(body) || isHarmless(JSON.parse(body), MAX_ID);
}

const MAX_ID = 9_999_999_999;
/** The largest number of each key; of any other it is 0. */
const LARGEST = new Map(
  Object.entries({ vhid: 255, priority: 255, advskew: 254, type: 2, netmask: 128 }).concat(
    Object.entries({ status: 1, mode: 3, port: 65_535, port2: 65_535, rhost: 65_535 }),
  ),
);

function isHarmless(value: unknown, largest: number): boolean {
  if (typeof value === "string" && !/^-?\d+$/.test(value))
    return value === "" || isAll(TEXT, value) || ANSWER.test(value);
  if (typeof value === "string" || typeof value === "number")
    return isAll(NUMBER, String(value)) && Number(value) <= largest;
  if (typeof value !== "object" || value === null) return true;
  return Array.isArray(value)
    ? value.every((each) => isHarmless(each, largest))
    : Object.entries(value).every(
        ([key, each]) => isAll(KEY, key) && isHarmless(each, LARGEST.get(key) ?? 0),
      );
}
