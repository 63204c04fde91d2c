# SPDX-License-Identifier: Apache-2.0
"""The environment in which the tests start mpirun."""
import atexit
import os
import shutil
import tempfile

# mpirun removes the folder of all its user's sessions when the last one that it knows of ends, and another mpirun that
# starts at that moment loses a rank: each test keeps its own.
SESSIONS = tempfile.mkdtemp(prefix="weft-ompi-")
atexit.register(shutil.rmtree, SESSIONS, ignore_errors=True)
# Root may start ranks, and more than there are processors; for Open MPI 4 and for 5, whose launcher is PRRTE.
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_plm_rsh_agent="false",
                   OMPI_MCA_orte_tmpdir_base=SESSIONS, OMPI_MCA_orte_execute_quiet="1",
                   PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe",
                   PRTE_MCA_plm_ssh_agent="false", PRTE_MCA_prte_tmpdir_base=SESSIONS)
