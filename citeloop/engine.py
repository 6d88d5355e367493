"""The embedded face: stores and models opened once, questions answered many times."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, Literal, NamedTuple, Unpack

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.types import Checkpointer, Command
from typing_extensions import TypedDict

from citeloop.errors import InvalidRequest, ReviewPending
from citeloop.governance.access import AccessPolicy
from citeloop.governance.audit import SQLiteAuditLog, audit_log_in
from citeloop.governance.door import Door
from citeloop.governance.identity import CALLER_KEY
from citeloop.governance.rights_change import record_in
from citeloop.graph.configured_graph import ConfiguredGraph
from citeloop.graph.engine_patterns import assemble_engine_patterns
from citeloop.graph.query import build_query_graph
from citeloop.graph.query_parts import QueryParts
from citeloop.graph.run_settings import read_settings
from citeloop.knowledge.indexes import LexicalIndex, VectorIndex
from citeloop.knowledge.ingest import Indexer
from citeloop.knowledge.relation_indexer import RelationIndexer
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.models.chat_caller import ChatCaller
from citeloop.models.claim_judges import ChatJudge, ClaimJudge, NliJudge
from citeloop.models.evidence import EvidenceJudge
from citeloop.models.memoized_embedder import MemoizedEmbedder
from citeloop.models.relation_extractor import RelationExtractor
from citeloop.prompts.library import DIRECTORY_VARIABLE, load_prompt, use_prompts
from citeloop.retrieval.analyzer import QueryAnalyzer
from citeloop.retrieval.hybrid import HybridSearcher
from citeloop.retrieval.passages import PassageReader
from citeloop.retrieval.relevance import RelevanceJudge
from citeloop.retrieval.rerank import Reranker
from citeloop.settings import Settings
from citeloop.state.config import ClaimPolicy, RAGConfig, StrategyChoice
from citeloop.state.graph_state import QueryInput
from citeloop.state.models import RAGResponse, UserContext
from citeloop.verification.verifier import Verifier
from citeloop.workers import WorkerPool


class QueryOptions(TypedDict, total=False):
    """What a single question may set beside its text."""

    corpus_ids: Sequence[str] | None
    """Names of the corpora to search; ``None``: all that are open to the caller."""
    user_context: UserContext | None
    strategy: StrategyChoice
    top_k: int
    require_citations: bool
    claim_policy: ClaimPolicy
    """Never weaker than the engine's."""
    config: RAGConfig
    """Settings of this question instead of the engine's."""
    thread_id: str
    """Conversation that the question belongs to; needs a checkpointer."""
    history: Sequence[AnyMessage]
    """Turns before the question, oldest first, where no thread keeps them: a follow-up is understood by them."""


Decision = Literal["approve", "edit", "reject"]


class ReviewOptions(TypedDict, total=False):
    """What a decision on an answer may bring."""

    answer: str
    """The edited answer, with its [n] citations."""
    note: str
    """Why; kept in the audit log."""
    user_context: UserContext | None


class _Call(NamedTuple):
    input: QueryInput | Command[Any]
    config: RunnableConfig
    context: RAGConfig


class RAGQueryEngine:
    """Adaptive RAG query engine (ADR-031, RAGQueryEngine). Thread-safe; holds no state of a question.

    ``graph`` is the compiled LangGraph itself. Most people call ``open_engine`` instead of this constructor.
    """

    def __init__(
        self,
        knowledge_store: HierarchicalKnowledgeStore,
        vector_index: VectorIndex,
        llm: BaseChatModel,
        config: RAGConfig | None = None,
        *,
        lexical_index: LexicalIndex,
        embedder: MemoizedEmbedder,
        judge: EvidenceJudge,
        reranker: Reranker,
        audit: SQLiteAuditLog,
        workers: WorkerPool,
        checkpointer: Checkpointer = None,
        ask_needs_reason: bool = False,
        expose_steps: bool = True,
        claim_judge: ClaimJudge | None = None,
    ) -> None:
        self.store = knowledge_store
        self.vector_index = vector_index
        self.lexical_index = lexical_index
        self.embedder = embedder
        self.audit = audit
        self.reranker = reranker
        self.config = config or RAGConfig()
        self.indexer = Indexer(knowledge_store, vector_index, lexical_index, embedder)
        self.workers = workers
        self._parts = QueryParts(
            store=knowledge_store,
            searcher=HybridSearcher(knowledge_store, vector_index, lexical_index, embedder),
            reader=PassageReader(knowledge_store, embedder),
            analyzer=QueryAnalyzer(embedder),
            reranker=reranker,
            llm=llm,
            verifier=Verifier(embedder, judge, self.config, claim_judge),
            door=Door(
                audit,
                workers,
                ask_needs_reason=ask_needs_reason,
                audits_always=self.config.audit_all_queries,
            ),
            workers=workers,
            config=self.config,
            expose_steps=expose_steps,
        )
        self._decisions: set[str] = set()
        self._decisions_lock = Lock()
        self._checkpointer = checkpointer
        self.graph = build_query_graph(self._parts, checkpointer)

    @cached_property
    def graphs(self) -> Mapping[str, ConfiguredGraph[Any]]:
        """The compiled graphs by name: ``query``, which is ``graph``, and the multi-query patterns ``rag_fusion``,
        ``sub_questions`` and ``step_back`` over the same stores, model and audit, with the stop rules of their own.

        They are made when first asked for. Blocking.
        """
        return {"query": self.graph, **assemble_engine_patterns(self._parts, self._checkpointer)}

    @cached_property
    def relation_indexer(self) -> RelationIndexer:
        """Reads typed relations in the chunks of a corpus with the engine's chat model; ``graph`` walks along them.

        Raises ``InvalidRequest`` where the engine only quotes.
        """
        from citeloop.models.extractive import ExtractiveChatModel

        if isinstance(self._parts.llm, ExtractiveChatModel):
            raise InvalidRequest(
                "relations are read by a chat model, and none is configured; set OPENAI_API_KEY, or OPENAI_BASE_URL "
                "for an OpenAI-compatible endpoint, or index without relations"
            )
        caller = ChatCaller(self._parts.llm, self.workers)
        return RelationIndexer(self.store, RelationExtractor(caller, load_prompt("relation_extractor")))

    def query(self, question: str, *, access_reason: str, **options: Unpack[QueryOptions]) -> RAGResponse:
        """Answer ``question`` from the caller's corpora (ADR-031, ``@corpus:query``).

        Raises ``InvalidRequest``, ``MissingReason``, ``CorpusNotFound``, ``SearchFailed`` or a ``ModelError``, and
        ``ReviewPending`` where the answer waits for a person (``RAGConfig.review``): go on with ``review``.
        """
        call = self._call(question, access_reason, options, ask=False)
        return _response(self.graph.invoke(call.input, call.config, context=call.context), call)

    async def aquery(self, question: str, *, access_reason: str, **options: Unpack[QueryOptions]) -> RAGResponse:
        """As ``query``, in the caller's event loop."""
        call = self._call(question, access_reason, options, ask=False)
        return _response(await self.graph.ainvoke(call.input, call.config, context=call.context), call)

    def simple_query(self, question: str, *, access_reason: str = "", **options: Unpack[QueryOptions]) -> RAGResponse:
        """As ``query``, with a reason only where policy demands one (ADR-031, ``@corpus:ask``)."""
        call = self._call(question, access_reason, options, ask=True)
        return _response(self.graph.invoke(call.input, call.config, context=call.context), call)

    async def asimple_query(
        self, question: str, *, access_reason: str = "", **options: Unpack[QueryOptions]
    ) -> RAGResponse:
        """As ``simple_query``, in the caller's event loop."""
        call = self._call(question, access_reason, options, ask=True)
        return _response(await self.graph.ainvoke(call.input, call.config, context=call.context), call)

    def review(self, thread_id: str, decision: Decision, **options: Unpack[ReviewOptions]) -> RAGResponse:
        """Decide on the answer that waits on a thread: ``approve``, ``edit`` (with ``answer``) or ``reject``.

        An edited answer is validated again. Raises ``ReviewPending`` when it did not pass, with what is wrong with it,
        and ``InvalidRequest`` when nothing waits on the thread.
        """
        call = self._decision(thread_id, decision, options)
        with self._deciding(thread_id):
            self._require_waiting(self.graph.get_state(call.config).next, thread_id)
            return _response(self.graph.invoke(call.input, call.config, context=call.context), call)

    async def areview(self, thread_id: str, decision: Decision, **options: Unpack[ReviewOptions]) -> RAGResponse:
        """As ``review``, in the caller's event loop."""
        call = self._decision(thread_id, decision, options)
        with self._deciding(thread_id):
            self._require_waiting((await self.graph.aget_state(call.config)).next, thread_id)
            return _response(await self.graph.ainvoke(call.input, call.config, context=call.context), call)

    def passages_of(self, response: RAGResponse, user_context: UserContext | None = None) -> dict[str, str]:
        """The texts that the sources of ``response`` point to, by chunk id, as they are stored now; for ``to_html``.

        They are read as the caller: raises ``CorpusNotFound`` where one of the corpora is not open to them (any more).
        Those that are gone are left out. Blocking.
        """
        read = self._parts.reader.read_passages(response.sources, user_context or UserContext())
        return {passage["chunk_id"]: passage["text"] for passage in read}

    def close(self) -> None:
        """Wait for the work under way and give threads and connections back; the engine answers no more."""
        self.workers.close()
        self.store.close()

    def _call(self, question: str, access_reason: str, options: QueryOptions, *, ask: bool) -> _Call:
        _refuse_unknown(options, QueryOptions)
        corpora = options.get("corpus_ids")
        if corpora is not None and (isinstance(corpora, str) or not isinstance(corpora, Sequence)):
            raise InvalidRequest(f"corpus_ids is a list of names: write [{corpora!r}]")
        request = QueryInput(question=question, access_reason=access_reason, command="ask" if ask else "query")
        if corpora is not None:
            request["corpora"] = list(corpora)
        if options.get("history"):
            request["messages"] = list(options["history"])
        configurable: dict[str, object] = {CALLER_KEY: options.get("user_context") or UserContext()}
        if self._checkpointer is not None:
            configurable["thread_id"] = options.get("thread_id") or str(uuid.uuid4())
        return _Call(request, RunnableConfig(configurable=configurable), self._run_settings(options))

    @contextmanager
    def _deciding(self, thread_id: str) -> Iterator[None]:
        """One decision at a time for each thread: of two at once, the second would go over the first."""
        with self._decisions_lock:
            if thread_id in self._decisions:
                raise InvalidRequest(f"a decision on thread {thread_id} is being carried out")
            self._decisions.add(thread_id)
        try:
            yield
        finally:
            self._decisions.discard(thread_id)

    def _decision(self, thread_id: str, decision: Decision, options: ReviewOptions) -> _Call:
        if self._checkpointer is None:
            raise InvalidRequest("reviews need threads: open_engine(checkpointer=...)")
        _refuse_unknown(options, ReviewOptions)
        resume = {"decision": decision, "answer": options.get("answer", ""), "note": options.get("note", "")}
        caller = options.get("user_context") or UserContext()
        config = RunnableConfig(configurable={CALLER_KEY: caller, "thread_id": thread_id})
        return _Call(Command(resume=resume), config, self.config)

    @staticmethod
    def _require_waiting(next_nodes: tuple[str, ...], thread_id: str) -> None:
        if next_nodes != ("review_answer",):
            raise InvalidRequest(f"no answer waits for review on thread {thread_id}")

    def _run_settings(self, options: QueryOptions) -> RAGConfig:
        settings = options.get("config") or self.config
        if not isinstance(settings, RAGConfig):
            raise InvalidRequest("config is a RAGConfig: write config=RAGConfig(...)")
        given = {name: value for name, value in options.items() if name in RAGConfig.model_fields}
        return read_settings({**settings.model_dump(), **given}, RAGConfig)


def _refuse_unknown(options: Mapping[str, object], kind: type) -> None:
    if unknown := options.keys() - kind.__annotations__.keys():
        known = ", ".join(kind.__annotations__)
        raise InvalidRequest(f"unknown option {', '.join(sorted(unknown))}; the options are {known}")


def open_engine(
    home: str | Path | None = None,
    *,
    settings: Settings | None = None,
    config: RAGConfig | None = None,
    llm: BaseChatModel | None = None,
    checkpointer: Checkpointer = None,
    policy: AccessPolicy | None = None,
    expose_steps: bool = True,
) -> RAGQueryEngine:
    """The engine over the stores in ``home`` (default: ``CITELOOP_HOME``, ``~/.citeloop``), made there if absent.

    The store and the embedding weights are opened here, the rest at first use. Without ``llm``, a configured
    OpenAI-compatible endpoint writes the answers, else the extractive model quotes them. ``expose_steps`` off keeps
    drafts, verdicts and ranked lists out of threads. An application with several users passes a ``policy`` under which
    a caller who was not named has no rights: ``OwnersAndGrants(local_user_is_trusted=False)``.
    """
    from citeloop.graph.keyless_tracing import switch_off_keyless_tracing
    from citeloop.models.chat import build_chat_model
    from citeloop.models.extractive import ExtractiveChatModel
    from citeloop.models.load import load_embedder
    from citeloop.retrieval.dense import ChromaVectorIndex
    from citeloop.retrieval.exact import ExactVectorSearch
    from citeloop.retrieval.lexical import TantivyLexicalIndex
    from citeloop.retrieval.rerank import load_reranker

    switch_off_keyless_tracing()
    settings = settings or Settings()
    _use_prompts(settings.prompts)
    folder = Path(home or settings.home).expanduser()
    config = config or RAGConfig(review=settings.review, claim_policy=settings.claim_policy)
    embedder = MemoizedEmbedder(load_embedder(settings))
    judge = RelevanceJudge(embedder)
    audit = audit_log_in(folder)
    llm = llm or build_chat_model(settings, lambda: ExtractiveChatModel(judge=judge))
    claim_judge = _claim_judge(settings, llm, quotes_only=isinstance(llm, ExtractiveChatModel))
    store = HierarchicalKnowledgeStore(folder, policy, record_in(audit))
    return RAGQueryEngine(
        store,
        ChromaVectorIndex(folder / "vectors", after_fork=ExactVectorSearch(store)),
        llm,
        config,
        lexical_index=TantivyLexicalIndex(folder / "lexical"),
        embedder=embedder,
        judge=judge,
        reranker=load_reranker(config.reranker_model, judge, downloads=settings.model_downloads),
        audit=audit,
        workers=WorkerPool(settings.workers),
        checkpointer=checkpointer,
        ask_needs_reason=settings.require_access_reason,
        expose_steps=expose_steps,
        claim_judge=claim_judge,
    )


def _claim_judge(settings: Settings, llm: BaseChatModel, *, quotes_only: bool) -> ClaimJudge | None:
    """The judge that the settings name. Raises ``InvalidRequest`` or ``WeightsNotFound`` where it cannot be had."""
    if settings.support_judge == "nli":
        return NliJudge(settings.nli_model, downloads=settings.model_downloads)
    if settings.support_judge == "none":
        return None
    if quotes_only:
        raise InvalidRequest(
            "setting CITELOOP_SUPPORT_JUDGE: model needs a chat model; set OPENAI_API_KEY or OPENAI_BASE_URL"
        )
    return ChatJudge(llm, load_prompt("support_judge"))


def _use_prompts(directory: Path | None) -> None:
    try:
        use_prompts(directory)
    except ValueError as error:
        raise InvalidRequest(f"setting {DIRECTORY_VARIABLE}: {error}") from None


def _response(state: dict[str, Any], call: _Call) -> RAGResponse:
    if interrupts := state.get("__interrupt__"):
        raise ReviewPending(call.config["configurable"]["thread_id"], interrupts[0].value)
    return RAGResponse.model_validate(state["response"])
