import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fuseObstacle, mounted, obstacle, seenBy, startOnMemory } from "./journal-file-systems.ts";
import { expectPolls, REPAIRED, setScene, untilSaid, untilStory, untilUp } from "./journal-scene.ts";
import { test } from "./stage.ts";

test.concurrent("the file system of the journal hangs for a while: the exporter polls, and writes the journal again", async ({
  stage,
  skip,
}) => {
  skip(fuseObstacle !== "", fuseObstacle);
  const scene = await setScene(stage);
  const { program, files, seen } = await startOnMemory(stage, scene);
  await untilStory(seen, ["run start", "a"]);
  files.kill("SIGSTOP");
  await untilSaid(program, "does not answer");
  await untilUp(program, false);
  await scene.failOver(program);
  await expectPolls(program);
  files.kill("SIGCONT");
  await untilSaid(program, REPAIRED);
  await untilUp(program, true);
  await untilStory(seen, ["run start", "a", "b"]);
});

test.concurrent("the file system of the journal hangs at the start: the exporter polls, and writes the journal when it answers", async ({
  stage,
  skip,
}) => {
  skip(fuseObstacle !== "", fuseObstacle);
  const { program, files, seen } = await startOnMemory(stage, await setScene(stage), true);
  await untilSaid(program, "the journal cannot be written the file system does not answer");
  await expectPolls(program);
  files.kill("SIGCONT");
  await untilUp(program, true);
  await untilStory(seen, ["run start", "a"]);
});

test.concurrent("the disk of the journal has no space: nothing is lost, and nothing is written twice", async ({
  stage,
  skip,
}) => {
  skip(obstacle !== "", obstacle);
  const { journal, start, failOver } = await setScene(stage);
  await mkdir(journal);
  const program = await start(mounted("mount -t tmpfs -o size=64k journal"));
  const seen = seenBy(program, journal);
  await untilStory(seen, ["run start", "a"]);
  const filling = join(seen, "filling");
  await writeFile(filling, Buffer.alloc(2 ** 20)).catch(() => {});
  for (let nth = 1; nth <= 6; nth += 1) await failOver(program);
  await untilSaid(program, "ENOSPC");
  await untilUp(program, false);
  await expectPolls(program);
  await rm(filling);
  await untilSaid(program, REPAIRED);
  await untilStory(seen, ["run start", "a", "b", "a", "b", "a", "b", "a"]);
});
