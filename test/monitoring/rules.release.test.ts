import { playAt } from "./play.ts";
import { scenariosAt } from "./scenarios.ts";

/** All scenarios, of which each change plays some that together have each rule fire. */
playAt([5, 30].map((seconds) => [seconds, scenariosAt(seconds)]));
