import { beforeEach } from "vitest";
import { setTestTimeout } from "./eventually.ts";

beforeEach(({ task }) => setTestTimeout(task.timeout));
