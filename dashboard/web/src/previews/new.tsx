/** Creating an AppPipeline. */
import { NewObject } from "../ui/form/object.tsx";
import { pipelineForm } from "./fields.tsx";

/** The screen. */
export const NewPipeline = () => <NewObject kind={pipelineForm} title="Preview a repository" />;
