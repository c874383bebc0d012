"""Taking in documents in the background, so that nothing that was accepted is lost.

The catalog knows every document and its job. An engine (DBOS) runs the jobs, and remembers which of their steps are
done. Both may be shared: by several processes of one machine, and on PostgreSQL by several machines.
"""

from __future__ import annotations

from carrel.jobs.ingestion import Ingestion, Said, Ticket

__all__ = ["Ingestion", "Said", "Ticket"]
