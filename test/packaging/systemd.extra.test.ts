import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { codeBlocks } from "../support/code-blocks.ts";
import { eventually } from "../support/eventually.ts";
import { test, type Machine } from "./machine.ts";

const EXPORTER = "appliance-exporter";
const APPLIANCE = "reference-appliance";
const CONFIG = "/etc/appliance-exporter/config.yaml";
const STORAGE = "/var/lib/appliance-exporter";

const EXPORTER_CONFIG = `
polling: { vrrp: { interval: 1s } }
http_client:
  basic_auth: { username: monitor, password_file: secrets/monitor }
  tls_config: { ca_file: secrets/appliance.pem }
appliances: [{ name: waf-lab, base_url: "https://192.0.2.11:4849" }]
`;
const KEEPALIVED_CONFIG = `
global_defs { umask 022 }
vrrp_instance VI_1 {
  interface eth0
  virtual_router_id 51
  priority 150
  virtual_ipaddress { 192.0.2.100/24 }
}
`;
const MASTER =
  '\nvrrp_is_master{appliance="waf-lab",ha_cluster="waf-lab",interface="VI_1",vhid="51",vip="192.0.2.100"} 1\n';

/** A document of the project. */
const readPage = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");

/** Installs the reference appliance for keepalived as its document says, and a configuration of the exporter that polls it. */
async function installFleet({ folder, run }: Machine): Promise<void> {
  const page = readPage("reference/keepalived.md");
  const [createFolder = "", restartKeepalived = "", createSecrets = "", startAppliance = ""] = codeBlocks(
    page,
    "sh",
  );
  const [applianceConfig = ""] = codeBlocks(page, "yaml");
  writeFileSync(join(folder, "etc/keepalived/keepalived.conf"), KEEPALIVED_CONFIG);
  await run(createFolder + restartKeepalived + createSecrets);
  writeFileSync(join(folder, "etc/reference-appliance/appliance.yaml"), applianceConfig);
  await run(startAppliance);

  await run(`
    umask 027
    cd /etc/reference-appliance
    cp --no-preserve=mode secrets/monitor appliance.pem /etc/appliance-exporter/secrets`);
  writeFileSync(join(folder, CONFIG), EXPORTER_CONFIG);
}

/** A property of a unit, as systemd shows it. */
async function property({ run }: Machine, unit: string, name: string): Promise<string> {
  return (await run(`systemctl show ${unit} --property=${name} --value`)).trim();
}

const mainPid = (machine: Machine, unit: string) => property(machine, unit, "MainPID");

/** Waits until the exporter polls the appliance. */
async function untilMaster({ run }: Machine): Promise<void> {
  const fetchMetrics = `fetch("http://127.0.0.1:10849/metrics").then((r) => r.text()).then(console.log)`;
  await eventually(
    async () =>
      expect(await run(`/usr/lib/appliance-exporter/node/node -e '${fetchMetrics}'`)).toContain(MASTER),
    { everyMs: 200 },
  );
}

/** Waits until systemd has started a unit again; the process before had this id. */
async function untilRestarted(machine: Machine, unit: string, pid: string): Promise<void> {
  await eventually(
    async () => {
      expect(await property(machine, unit, "ActiveState")).toBe("active");
      expect(await mainPid(machine, unit)).not.toBe(pid);
    },
    { everyMs: 200 },
  );
}

test("the service starts at boot, and a reload takes a changed configuration or says what is wrong", async ({
  machine,
}) => {
  expect(await property(machine, EXPORTER, "ActiveState")).toBe("active");
  await installFleet(machine);
  const pid = await mainPid(machine, EXPORTER);
  expect(await machine.exec(`systemctl reload ${EXPORTER}`)).toEqual({ code: 0, output: "" });
  await untilMaster(machine);

  const path = join(machine.folder, CONFIG);
  writeFileSync(path, "cluster: []\n");
  expect(await machine.exec(`systemctl reload ${EXPORTER}`)).toMatchObject({ code: 1 });
  expect(
    await machine.run(`journalctl --sync && journalctl --unit=${EXPORTER} --priority=warning --output=cat`),
  ).toContain(`${CONFIG}:1:1: unknown key "cluster"`);
  await untilMaster(machine);
  expect(await mainPid(machine, EXPORTER)).toBe(pid);

  // More often than systemd allows by default.
  for (let nth = 1; nth <= 6; nth += 1)
    expect(await machine.exec(`systemctl restart ${EXPORTER}`)).toMatchObject({ code: 1 });
  writeFileSync(path, EXPORTER_CONFIG);
  await untilMaster(machine);
});

test("a service starts again, with its journal, whatever has ended its process", async ({ machine }) => {
  await untilMaster(machine);
  const readJournal = () => machine.run(`cat ${STORAGE}/2*.jsonl`);
  await machine.run(`systemctl stop ${EXPORTER}`);
  expect(await property(machine, EXPORTER, "Result")).toBe("success");
  const journal = await readJournal();
  await machine.run(`systemctl start ${EXPORTER}`);

  const ends = [
    [EXPORTER, "TERM"],
    [APPLIANCE, "KILL"],
  ] as const;
  await Promise.all(
    ends.map(async ([unit, signal]) => {
      const pid = await mainPid(machine, unit);
      await machine.run(`systemctl kill --kill-whom=main --signal=${signal} ${unit}`);
      await untilRestarted(machine, unit, pid);
    }),
  );
  await untilMaster(machine);
  await eventually(async () => {
    const later = await readJournal();
    expect(later.startsWith(journal)).toBe(true);
    expect(later.length).toBeGreaterThan(journal.length);
  });
});

test("the service sees its own processes and can write its own folders, and its exposure is that of the document", async ({
  machine,
}) => {
  const pid = await mainPid(machine, EXPORTER);
  expect(await machine.run(`grep -E '^(CapBnd|NoNewPrivs|Seccomp):' /proc/${pid}/status`)).toBe(
    "CapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n",
  );
  expect(await machine.run(`prlimit --pid=${pid} --core --noheadings --output=SOFT,HARD | xargs`)).toBe(
    "0 0\n",
  );
  const inSandbox = (script: string) =>
    machine.run(`
      ids="--setuid=$(id -u ${EXPORTER}) --setgid=$(id -g ${EXPORTER})"
      nsenter --target=${pid} --mount --user $ids -- sh -c "${script}"`);
  expect(await inSandbox("find / -path /proc -prune -o -type d -writable -print 2>/dev/null | sort")).toBe(
    `/dev/mqueue\n/dev/shm\n/run/${EXPORTER}\n/tmp\n${STORAGE}\n/var/tmp\n`,
  );
  const socket = `/run/${EXPORTER}/admin.sock`;
  // The service is active before it listens.
  await eventually(async () => expect(await machine.run(`ls ${socket}`)).toBe(`${socket}\n`), {
    everyMs: 200,
  });
  expect(await machine.run(`stat --format='%U %G %a' ${socket}`)).toBe(`${EXPORTER} ${EXPORTER} 660\n`);
  expect(await machine.run(`${EXPORTER} maintenance list`)).toBe("no work is planned\n");
  expect(await inSandbox("ls -d /proc/[0-9]*")).not.toContain("/proc/1\n");
  expect(await machine.run(`stat --format='%U %G %a' ${STORAGE} ${STORAGE}/*.jsonl`)).toMatch(
    /^appliance-exporter appliance-exporter 700\n(appliance-exporter appliance-exporter 600\n)+$/,
  );

  const exposures = [EXPORTER, APPLIANCE].map(async (unit) => {
    const analysis = await machine.run(`systemd-analyze security --no-pager ${unit}`);
    return /Overall exposure level for \S+: ([\d.]+)/.exec(analysis)?.[1];
  });
  const [exporter, appliance] = await Promise.all(exposures);
  expect(readPage("operations.md")).toContain(
    `rates the exposure of the service ${exporter} of 10, and that of the [reference appliance](reference/keepalived.md) ${appliance}`,
  );
});

test("the credential that is a comment in the unit is a password that only root can read", async ({
  machine,
}) => {
  const unit = await machine.run(`systemctl cat ${EXPORTER}`);
  const [, credential = ""] = /^#(LoadCredential=.*)$/m.exec(unit) ?? [];
  const secret = "/etc/appliance-exporter/secrets/monitor";
  await machine.run(`
    chown root:root ${secret}
    chmod 0600 ${secret}
    mkdir -p /etc/systemd/system/${EXPORTER}.service.d
    printf '[Service]\\n${credential}\\n' >/etc/systemd/system/${EXPORTER}.service.d/credential.conf
    systemctl daemon-reload`);
  const withCredential = EXPORTER_CONFIG.replace(
    "secrets/monitor",
    `/run/credentials/${EXPORTER}.service/monitor`,
  );
  writeFileSync(join(machine.folder, CONFIG), withCredential);
  await machine.run(`systemctl restart ${EXPORTER}`);
  await untilMaster(machine);
  // systemd 252 gives the commands of a reload no credentials, as the unit says.
  expect(await machine.exec(`systemctl reload ${EXPORTER}`)).toMatchObject({ code: 1 });
  const log = await machine.run(`journalctl --sync && journalctl --unit=${EXPORTER} --lines=20 --output=cat`);
  expect(log).toContain(`cannot use "/run/credentials/${EXPORTER}.service/monitor": permission denied`);

  writeFileSync(join(machine.folder, CONFIG), EXPORTER_CONFIG);
  await machine.run(`
    rm -r /etc/systemd/system/${EXPORTER}.service.d
    chown root:${EXPORTER} ${secret}
    chmod 0640 ${secret}
    systemctl daemon-reload
    systemctl restart ${EXPORTER}`);
  await untilMaster(machine);
});

test("an upgrade restarts the running service with its configuration, and a purge leaves nothing", async ({
  machine,
}) => {
  const pid = await mainPid(machine, EXPORTER);
  await machine.run("dpkg --install /srv/package.deb");
  await untilRestarted(machine, EXPORTER, pid);
  await untilMaster(machine);

  await machine.run(`systemctl disable --now ${APPLIANCE} && dpkg --purge appliance-exporter`);
  expect(await property(machine, EXPORTER, "LoadState")).toBe("not-found");
  expect(await property(machine, EXPORTER, "ActiveState")).toBe("inactive");
  expect(await machine.run(`find /proc -maxdepth 1 -user ${EXPORTER}`)).toBe("");
  expect(await machine.run(`find / /run -xdev -name '*${EXPORTER}*'`)).toBe("");
});
