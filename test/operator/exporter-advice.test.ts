import { expect, test } from "vitest";
import type { Failure } from "../../src/exporter/api/failure.ts";
import { adviceOnExporter } from "../../src/operator/exporter-advice.ts";

const SOCKET = "/run/admin.sock";
const address = {
  url: new URL("http://localhost:10849"),
  shown: "http://localhost:10849/",
  forbidden: SOCKET,
};

test.each<[what: string, failure: Partial<Failure>]>([
  ["refuses a change", { reason: "auth", status: 403 }],
  ["wants a password", { reason: "auth", status: 401 }],
  ["does not listen", { reason: "connect", code: "refused" }],
])("a user who may not use the socket hears of it if the port %s", (_, failure) => {
  const advice = adviceOnExporter({ reason: "auth", message: "", ...failure }, { address, file: undefined });
  expect(advice).toContain(SOCKET);
});
