/** Commands for pipeds of PipeCD v0.57.0. Callers cannot see whether a piped receives them. */
import { randomUUID } from "node:crypto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { CommandSchema } from "@denrei/functions/pipecd/api/generated/c/model_pb";
import type { PlaneC } from "./plane.ts";
import { stored } from "./rows.ts";

type NewCommand = Omit<Extract<MessageInitShape<typeof CommandSchema>, { $typeName?: never }>, "id">;

/** Stores a command and returns its id. */
export function addCommand({ store, seconds }: PlaneC, command: NewCommand): string {
  const [id, now] = [randomUUID(), seconds()];
  stored("create command", () =>
    store.commands.add(create(CommandSchema, { ...command, id, createdAt: now, updatedAt: now })),
  );
  return id;
}
