export { createAuthority, type Authority } from "../../src/demo/authority.ts";
