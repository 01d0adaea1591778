"""What readers see: languages, drawings of boards, prose, rules pages. Imports no other folder of the service."""
