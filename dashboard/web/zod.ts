/** The page's `zod`: generates no code, because the page's content security policy forbids `eval`. */
import { config, z } from "zod/v4";

config({ jitless: true });

export * from "zod/v4";
export { z };
