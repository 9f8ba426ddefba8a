import { readFileSync } from "node:fs";
import { validate } from "dockerfile-utils";
import { describe, expect, it } from "vitest";

const dockerfile = readFileSync(new URL("../../Dockerfile", import.meta.url), "utf8");

/** Instructions of the last stage, continuation lines none. */
const finalStage = dockerfile.slice(dockerfile.lastIndexOf("FROM ")).split("\n");

function argument(instruction: string): string | undefined {
  return finalStage.find((line) => line.startsWith(`${instruction} `))?.slice(instruction.length + 1);
}

describe("the Dockerfile", () => {
  it("has nothing that the linter complains of", () => {
    expect(validate(dockerfile).map(({ message, range }) => [range.start.line + 1, message])).toEqual([]);
  });

  it("would be complained of if it were wrong", () => {
    expect(validate(dockerfile.replace("EXPOSE 10849", "EXPOSE web"))).not.toEqual([]);
  });

  it("builds every stage on Node 24", () => {
    const images = dockerfile.match(/^FROM \S+/gm);
    expect(images).toEqual(Array.from({ length: 3 }, () => "FROM node:24-bookworm-slim"));
  });

  it("runs without root, by number", () => {
    expect(argument("USER")).toBe("65534:65534");
  });

  it("installs what runs, and no development dependency", () => {
    expect(dockerfile).toContain('RUN ["npm", "ci", "--omit=dev"]');
  });

  it("starts, and asks for health, in exec form and without curl", () => {
    expect(JSON.parse(argument("ENTRYPOINT") ?? "")).toEqual(["node", "/app/bin/appliance-exporter.cjs"]);
    expect(JSON.parse(argument("CMD") ?? "")).toEqual([
      "run",
      "--config.file=/etc/appliance-exporter/config.yaml",
    ]);
    expect(argument("HEALTHCHECK")).toContain('CMD ["node", "/app/bin/healthcheck.mjs"]');
    expect(dockerfile).not.toMatch(/curl|wget/);
  });
});
