/** The objects that `pipecd-repair.test.ts` leaves out: more of the same kinds. */
import { repairTests } from "../harness/pipecdrepair.ts";

repairTests("the others");
