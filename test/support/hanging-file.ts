import { spawn } from "node:child_process";
import { once } from "node:events";
import { endChild } from "./child.ts";

/**
 * Takes a lease of the file: whoever opens it then waits, as on a file system that hangs. While somebody else has it open there is no
 * lease. See fcntl(2), F_SETLEASE.
 */
const TAKE_LEASE = `
  open(my $file, "+<", $ARGV[0]) or die "$!";
  until (fcntl($file, 1024, 1)) { $!{EAGAIN} or die "no lease: $!"; select undef, undef, undef, 0.01 }
  $SIG{IO} = "IGNORE";
  $| = 1;
  print "taken";
  sleep 600;
`;

/**
 * From now on, a system call that opens the file does not return, for as long as the kernel waits for the end of a lease (45
 * seconds by default), or until the returned function is called.
 */
export async function hangFile(path: string): Promise<() => Promise<void>> {
  const holder = spawn("perl", ["-e", TAKE_LEASE, path], { stdio: ["ignore", "pipe", "inherit"] });
  await once(holder.stdout, "data");
  return () => endChild(holder);
}
