/**
 * What the page has for `zod`: the same, told before any schema is made that there is a policy which lets nobody make code of
 * text, so that it does not even try.
 */
import { config, z } from "zod/v4";

config({ jitless: true });

export * from "zod/v4";
export { z };
