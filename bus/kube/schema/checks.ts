/** Checks of a schema: bounds, patterns, refinements. */
import type { z } from "zod";

/** One check, as zod defines it. */
export type Check =
  | z.core.$ZodChecks["_zod"]["def"]
  | z.core.$ZodStringFormatChecks["_zod"]["def"]
  | (z.core.$ZodCheckDef & { readonly check: "custom" });

/** The checks of a schema. A schema such as `z.int()` is itself a check. */
export function checksOf(def: z.core.$ZodTypeDef): readonly Check[] {
  const own = "check" in def && def.type !== "custom" ? [def as unknown as Check] : [];
  return [...own, ...(def.checks ?? []).map((check) => check._zod.def as Check)];
}
