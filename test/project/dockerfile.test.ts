import { existsSync, readFileSync } from "node:fs";
import { validate } from "dockerfile-utils";
import { describe, expect, it } from "vitest";

const repository = new URL("../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, repository), "utf8");
const dockerfile = read("Dockerfile");
const dockerignore = read(".dockerignore");

/** The instructions of the last stage; none has continuation lines. */
const finalStage = dockerfile.slice(dockerfile.lastIndexOf("FROM ")).split("\n");

function argument(instruction: string): string | undefined {
  return finalStage.find((line) => line.startsWith(`${instruction} `))?.slice(instruction.length + 1);
}

/** Whether .dockerignore excludes a path. The last pattern that matches counts. */
function isIgnored(path: string): boolean {
  const patterns = dockerignore.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const last = patterns.findLast((pattern) => {
    const name = pattern.replace(/^!/, "");
    return name === "*" || path === name || path.startsWith(`${name}/`);
  });
  return last !== undefined && !last.startsWith("!");
}

describe("the Dockerfile", () => {
  it("copies files that exist and that .dockerignore does not exclude", () => {
    const copies = dockerfile.match(/^COPY (?!--from=).*$/gm) ?? [];
    const paths = copies.flatMap((copy) => copy.split(" ").slice(1, -1));
    expect(paths.length).toBeGreaterThan(5);
    const missing = paths.filter((path) => isIgnored(path) || !existsSync(new URL(path, repository)));
    expect(missing).toEqual([]);
  });

  it("has no error of the linter", () => {
    expect(validate(dockerfile).map(({ message, range }) => [range.start.line + 1, message])).toEqual([]);
  });

  it("builds every stage on Node 24", () => {
    const images = dockerfile.match(/^FROM \S+/gm);
    expect(images).toEqual(Array.from({ length: 2 }, () => "FROM node:24-bookworm-slim"));
  });

  it("runs without root, by number", () => {
    expect(argument("USER")).toBe("65534:65534");
  });

  it("installs no package in the image", () => {
    expect(finalStage.filter((line) => line.startsWith("RUN"))).toEqual([]);
  });

  it("has its command and its health check in exec form, without curl", () => {
    expect(JSON.parse(argument("ENTRYPOINT") ?? "")).toEqual(["node", "/app/bin/appliance-exporter.cjs"]);
    expect(JSON.parse(argument("CMD") ?? "")).toEqual([
      "run",
      "--config.file=/etc/appliance-exporter/config.yaml",
    ]);
    expect(argument("HEALTHCHECK")).toContain('CMD ["node", "/app/bin/healthcheck.mjs"]');
    expect(dockerfile).not.toMatch(/curl|wget/);
  });
});
