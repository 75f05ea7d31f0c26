/** Variables that users cannot set, because the chart does. */
import { reservedProblem, reservedVariables } from "@denrei/functions/paas/kinds/variables";
import type { z } from "zod";
import { type Path, valueAt } from "../ui/form/draft.ts";
import type { Variable } from "../ui/form/variables.ts";

/** Refuses reserved names in a list of variables, as the API server does for changed lists. */
export const withoutReserved = (schema: z.ZodType, path: Path): z.ZodType =>
  schema.superRefine(
    (draft, context) => {
      const variables = (valueAt(draft, path) ?? []) as readonly Variable[];
      for (const [at, { name = "" }] of variables.entries())
        if (reservedVariables.includes(name))
          context.addIssue({ code: "custom", path: [...path, at, "name"], message: reservedProblem });
    },
    { when: () => true },
  );
