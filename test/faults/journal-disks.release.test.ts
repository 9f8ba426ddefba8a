import { expect } from "vitest";
import { endChild } from "../support/child.ts";
import { eventually } from "../support/eventually.ts";
import { fuseObstacle, startOnMemory } from "./journal-file-systems.ts";
import { KILLED, setScene, untilStory, untilUp } from "./journal-scene.ts";
import { test } from "./stage.ts";

test("the file system of the journal hangs until the end: the process kills itself after SIGTERM and says why", async ({
  stage,
  skip,
}) => {
  skip(fuseObstacle !== "", fuseObstacle);
  const { program, files, seen } = await startOnMemory(stage, await setScene(stage));
  await untilStory(seen, ["run start", "a"]);
  files.kill("SIGSTOP");
  await untilUp(program, false);
  program.kill("SIGTERM");
  await eventually(() => expect(program.log().at(-1)).toMatchObject(KILLED));
  // The kernel may keep a process until its file system answers or ends.
  await endChild(files);
  expect(await program.exit).toMatchObject({ signal: "SIGKILL" });
});
