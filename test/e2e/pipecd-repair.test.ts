/** Restores objects of PipeCD that a user deletes or edits: one of each kind and function. The others are nightly. */
import { repairTests } from "../harness/pipecdrepair.ts";

repairTests("one of each");
