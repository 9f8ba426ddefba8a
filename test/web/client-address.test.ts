import { expect, test } from "vitest";
import { clientOf } from "../../src/web/connections.ts";

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8:1:2::1", "2001:db8:1:2"],
  ["2001:db8::1", "2001:db8:0:0"],
  ["::1", "0:0:0:0"],
  ["fe80::1%eth0", "fe80:0:0:0"],
  [undefined, ""],
])("the client at %s is %s", (address, client) => {
  expect(clientOf(address)).toBe(client);
});
