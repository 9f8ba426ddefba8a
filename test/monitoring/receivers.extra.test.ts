import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { createServer as createTcpServer, type Server as TcpServer } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { startAlertmanager, type Alertmanager } from "../support/alertmanager-server.ts";
import { eventually } from "../support/eventually.ts";
import { portOf } from "../support/fault-server.ts";
import { EXAMPLE } from "./alertmanager-example.ts";

/** What receivers were sent: bodies of HTTP requests by path, and mails as they came. */
const requests: { readonly path: string; readonly body: string }[] = [];
const mails: string[] = [];
let services: Server;
let mailServer: TcpServer;
let alertmanager: Alertmanager;

/** A server of SMTP that takes every mail (RFC 5321). */
function startMailServer(): TcpServer {
  return createTcpServer((socket) => {
    let received = "";
    let isData = false;
    socket.write("220 mail\r\n");
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      received += chunk;
      for (;;) {
        const end = received.indexOf(isData ? "\r\n.\r\n" : "\r\n");
        if (end < 0) return;
        const part = received.slice(0, end);
        received = received.slice(end + (isData ? 5 : 2));
        if (isData) mails.push(part);
        const command = part.slice(0, 4).toUpperCase();
        const isNext = !isData && command === "DATA";
        socket.write(isNext ? "354 go on\r\n" : !isData && command === "QUIT" ? "221 bye\r\n" : "250 ok\r\n");
        isData = isNext;
      }
    });
    socket.on("error", () => {});
  });
}

function without(config: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(config).filter(([key]) => key !== name));
}

beforeAll(async () => {
  services = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      requests.push({ path: request.url ?? "", body: await text(request) });
      response.end(request.url === "/pagerduty" ? '{"status":"success"}' : "ok");
    };
    void answer();
  });
  mailServer = startMailServer();
  await Promise.all(
    [services, mailServer].map(
      (server) => new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve)),
    ),
  );
  const at = `http://127.0.0.1:${portOf(services)}`;
  const receivers = EXAMPLE.receivers.map((receiver) => {
    const { pagerduty_configs: pagers = [], slack_configs: channels = [], ...others } = receiver;
    return {
      ...others,
      webhook_configs: [],
      pagerduty_configs: pagers.map((each) => {
        return { ...without(each, "routing_key_file"), routing_key: "key", url: `${at}/pagerduty` };
      }),
      slack_configs: channels.map((each) => ({ ...without(each, "api_url_file"), api_url: `${at}/slack` })),
    };
  });
  const global = {
    smtp_smarthost: `127.0.0.1:${portOf(mailServer)}`,
    smtp_from: "alertmanager@mail.example",
    smtp_require_tls: false,
  };
  const template = new URL("../../monitoring/alertmanager/appliance-exporter.tmpl", import.meta.url);
  alertmanager = await startAlertmanager(stringify({ ...EXAMPLE, global, receivers }), {
    "appliance-exporter.tmpl": await readFile(template, "utf8"),
  });
  await alertmanager.post([
    alertOf("VrrpSplitBrain", "critical", "rtm: waf-1 and waf-2 are both MASTER of 192.0.2.100"),
    alertOf("WebsitesUnequal", "warning", "ams: The members of ams differ in shop"),
  ]);
});

afterAll(async () => {
  await alertmanager.stop();
  services.close();
  mailServer.close();
});

function alertOf(alertname: string, severity: string, summary: string) {
  return {
    labels: { alertname, severity, component: "appliance-exporter", ha_cluster: "rtm" },
    annotations: {
      summary,
      description: "Fix the link between them, or stop VRRP on one",
      status_url: "https://exporter.example/?cluster=rtm",
      runbook_url: "https://exporter.example/runbook#vrrpsplitbrain",
    },
    startsAt: "2026-11-28T03:06:05Z",
    endsAt: new Date(Date.now() + 3_600_000).toISOString(),
  };
}

const TEXT = [
  "Fix the link between them, or stop VRRP on one",
  "Told at 2026-11-28 03:06:05 UTC",
  "Now: https://exporter.example/?cluster=rtm",
  "What to do: https://exporter.example/runbook#vrrpsplitbrain",
];

/** The first request about the split brain. */
async function requestTo(path: string): Promise<object> {
  const found = await eventually(() => {
    const request = requests.find((each) => each.path === path && each.body.includes("both MASTER"));
    if (request === undefined) throw new Error(`nothing was sent to ${path}`);
    return request;
  });
  const body: object = JSON.parse(found.body);
  return body;
}

test("PagerDuty shows the sentence, what to do, since when and where", async () => {
  expect(await requestTo("/pagerduty")).toMatchObject({
    payload: {
      summary: "rtm: waf-1 and waf-2 are both MASTER of 192.0.2.100",
      severity: "critical",
      custom_details: { text: expect.stringContaining(TEXT.join("\n")) },
    },
    client: "appliance-exporter",
    client_url: "https://exporter.example/?cluster=rtm",
  });
});

test("Slack shows the same", async () => {
  expect(await requestTo("/slack")).toMatchObject({
    attachments: [
      {
        title: "rtm: waf-1 and waf-2 are both MASTER of 192.0.2.100",
        title_link: "https://exporter.example/?cluster=rtm",
        fallback: "rtm: waf-1 and waf-2 are both MASTER of 192.0.2.100",
        text: expect.stringContaining(TEXT.join("\n")),
        color: "danger",
      },
    ],
  });
});

test("a mail about a ticket has the sentence as subject, and the same text", async () => {
  const mail = await eventually(() => {
    const [first] = mails;
    if (first === undefined) throw new Error("no mail was sent");
    return first.replaceAll("=\r\n", "").replaceAll("=3D", "=");
  });
  expect(mail).toContain("Subject: ams: The members of ams differ in shop");
  for (const line of TEXT) expect(mail).toContain(line);
});
