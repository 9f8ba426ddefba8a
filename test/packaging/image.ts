import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { inject, onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";
import { ROOT_TAR, toolPath } from "../support/tool.ts";
import { COMMITS } from "./prepare.ts";
import { enter, packagePath, unshare } from "./root.ts";

const execute = promisify(execFile);

/** The name that the Dockerfile asks for. */
const BASE = "docker.io/library/node:24-bookworm-slim";
const IMAGE = "localhost/appliance-exporter";

/** Has the Node.js of the image. */
const tarball = await packagePath(`-${process.arch}.tar.xz`);

/** How an image is run. */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  /** By path. */
  readonly Volumes: Readonly<Record<string, object>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** An image that is unpacked. */
export interface Image {
  readonly config: ImageConfig;
  /** The folder of its files. */
  readonly root: string;
}

/** Builds the Dockerfile without an engine; removed at the end of the test. */
export async function buildImage(): Promise<Image> {
  const work = await mkdtemp(join(tmpdir(), "appliance-exporter-"));
  onTestFinished(() => rm(work, { recursive: true }));
  const storage = [
    "--storage-driver=vfs",
    `--root=${join(work, "storage")}`,
    `--runroot=${join(work, "run")}`,
  ];
  const options = { env: { ...process.env, BUILDAH_ISOLATION: "chroot" }, maxBuffer: 2 ** 26 };
  const buildah = async (...args: readonly string[]): Promise<string> =>
    (await execute(toolPath("buildah"), [...storage, ...args], options)).stdout.trim();

  await makeBase(buildah, work);
  const build = [
    "--pull-never",
    "--network=host",
    "--format=docker",
    "--build-arg=REVISION=0123abcd",
    `--build-arg=COMMITS=${COMMITS}`,
  ];
  await buildah("build", ...build, `--tag=${IMAGE}`, inject("project"));
  const inspected: { readonly Docker: { readonly config: ImageConfig } } = JSON.parse(
    await buildah("inspect", "--type=image", IMAGE),
  );
  const root = await buildah("mount", await buildah("from", "--pull-never", IMAGE));
  return { config: inspected.Docker.config, root };
}

type Buildah = (...args: readonly string[]) => Promise<string>;

/** Makes the base image here instead of pulling it: Debian, Node.js and npm, and how this machine reaches its registry. */
async function makeBase(buildah: Buildah, work: string): Promise<void> {
  await execute("tar", ["-xf", tarball, "-C", work, "--wildcards", "--strip-components=2", "*/node/node"]);
  const npm = join((await execute("npm", ["root", "--global"])).stdout.trim(), "npm");
  const base = await buildah("from", "scratch");
  await buildah("add", base, ROOT_TAR, "/");
  await buildah("copy", base, join(work, "node"), "/usr/local/bin/node");
  await buildah("copy", base, npm, "/usr/local/lib/node_modules/npm");
  await buildah(
    "run",
    base,
    "--",
    "ln",
    "-s",
    "../lib/node_modules/npm/bin/npm-cli.js",
    "/usr/local/bin/npm",
  );
  const settings = await registrySettings();
  const certificates = settings.flatMap(([name, value]) => (/CERTS$|cafile$/.test(name) ? [value] : []));
  for (const file of certificates) await buildah("copy", base, file, file);
  await buildah("config", ...settings.map(([name, value]) => `--env=${name}=${value}`), base);
  await buildah("commit", "--rm", base, BASE);
}

/** How npm on this machine reaches its registry, as variables of the environment. */
async function registrySettings(): Promise<readonly (readonly [name: string, value: string])[]> {
  const keys = ["registry", "cafile", "https-proxy", "noproxy"];
  const values = keys.map(async (key) => {
    const value = (await execute("npm", ["config", "get", key])).stdout.trim();
    return [`npm_config_${key}`, value] as const;
  });
  const certificates = ["NODE_EXTRA_CA_CERTS", process.env["NODE_EXTRA_CA_CERTS"] ?? ""] as const;
  return [certificates, ...(await Promise.all(values))].filter(([, value]) => !["", "null"].includes(value));
}

/** A running container, which sees nothing of this machine's network. */
export interface Container {
  /** The process, as this machine numbers it. */
  readonly pid: number;
  /** Runs a command in the container, as its user; returns its exit code and output. */
  exec(...command: readonly string[]): ReturnType<typeof enter>;
}

/** Runs the image as its configuration says, with a read-only root, writable volumes and this configuration. */
export async function runImage({ config, root }: Image, configYaml: string): Promise<Container> {
  const folder = join(root, "etc/appliance-exporter");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "config.yaml"), configYaml);
  const chroot = ["chroot", `--userspec=${config.User}`, "--groups=", root];
  const inside = [...chroot, "env", "-i", `--chdir=${config.WorkingDir}`, ...config.Env];
  // A new volume has the content, the owner and the mode of the image's folder.
  const volumes = Object.keys(config.Volumes).map((path) => `mount --bind "$0${path}" "$0${path}"`);
  const mounts = `
    ip link set lo up
    mount --bind "$0" "$0"
    mount -t proc proc "$0/proc"
    ${volumes.join("\n")}
    mount -o remount,bind,ro "$0"
    exec "$@"`;
  const script = ["sh", "-ec", mounts, root, ...inside, ...config.Entrypoint, ...config.Cmd];
  const { child, pid } = unshare(["--net", ...script]);
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  await eventually(() => {
    if (!log.includes("exporter started")) throw new Error(`the container has not started: ${log}`);
  });
  return {
    pid: pid(),
    exec: (...command) => enter(pid(), [...inside, ...command]),
  };
}
