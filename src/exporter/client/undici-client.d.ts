declare module "undici/lib/dispatcher/client.js" {
  import { Client } from "undici";
  export default Client;
}
