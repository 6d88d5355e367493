"""Settings of one run of a multi-query graph: a form in Studio, ``context=`` in ``invoke``."""

from pydantic import BaseModel, ConfigDict, Field


class MultiQueryConfig(BaseModel):
    """What the three patterns have in common."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    search_timeout_s: float = Field(default=10.0, gt=0, le=600, description="Seconds allowed to one retrieval.")
    model_timeout_s: float = Field(default=60.0, gt=0, le=3600, description="Seconds allowed to one model call.")
    max_concurrency: int = Field(default=16, ge=1, le=256, description="Branches that run at a time.")
    max_context_tokens: int = Field(
        default=8000, ge=1000, le=1_000_000, description="Tokens of a whole prompt and its answer."
    )
    max_answer_tokens: int = Field(
        default=2000, ge=16, le=32_000, description="Tokens of a prompt's window kept free for the answer."
    )


class RagFusionConfig(MultiQueryConfig):
    """Settings of ``rag_fusion`` (multi-query specification, RAG-Fusion)."""

    rewrites: int = Field(default=3, ge=1, le=16, description="Rewordings of the question that the model writes.")
    depth: int = Field(default=10, ge=1, le=200, description="Documents taken from each query's ranked list.")
    k: int = Field(default=5, ge=1, le=100, description="Fused documents that reach the generator.")
    rrf_k: int = Field(default=60, ge=0, le=1000, description="Constant of reciprocal rank fusion, 1 / (rrf_k + rank).")


class SubQuestionsConfig(MultiQueryConfig):
    """Settings of ``sub_questions`` (multi-query specification, Sub-questions)."""

    max_sub_questions: int = Field(default=4, ge=2, le=16, description="Sub-questions kept; further ones are logged.")
    k: int = Field(default=4, ge=1, le=100, description="Documents for each sub-question.")
    branch_timeout_s: float = Field(
        default=60.0, gt=0, le=3600, description="Seconds allowed to one branch: its retrieval and its answer."
    )


class StepBackConfig(MultiQueryConfig):
    """Settings of ``step_back`` (multi-query specification, Step-back query)."""

    k: int = Field(default=4, ge=1, le=100, description="Documents for the question, and for the step-back question.")

    @property
    def depth(self) -> int:
        """Documents taken from each query's ranked list."""
        return self.k
